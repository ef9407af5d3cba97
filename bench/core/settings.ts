import type { SchedulerConfig } from '../../src/index.js';
import { loadConfig } from '../../sidecar/config/load.js';

/** The gateway's defaults, with room for the calls and programs of a bench. */
export function settings(rows: number, policy: Partial<SchedulerConfig['policy']> = {}): SchedulerConfig {
  const config = loadConfig({});
  const limits = { ...config.limits, programsMax: rows, queuedMax: 1_000_000, queuedPerTenantMax: 1_000_000 };
  // The load never ends, so the last in order would wait for ever: no call may be refused for that.
  const timeouts = { ...config.timeouts, queueMs: 1e9 };
  return { ...config, policy: { ...config.policy, ...policy }, limits, timeouts };
}
