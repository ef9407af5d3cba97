import { configSchema } from '../../sidecar/config/schema.js';
import type { Config } from '../../sidecar/config/schema.js';

/** The gateway's defaults, with a queue that never refuses: a bench loses no call. */
export function loadConfig(): Config {
  const config = configSchema.parse({});
  return {
    ...config,
    timeouts: { ...config.timeouts, queueMs: 1e9 },
    limits: { ...config.limits, queuedMax: 1e6, queuedPerTenantMax: 1e6 },
  };
}
