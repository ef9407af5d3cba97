import { createHash } from 'node:crypto';
import type { BalancerOptions } from '../../loadbalancer/index.js';
import { readConfigFile } from '../../sidecar/config/file.js';
import { loadConfig } from '../../sidecar/config/load.js';
import type { Override } from '../../sidecar/config/overrides.js';
import type { Config } from '../../sidecar/config/schema.js';
import type { SchedulerConfig } from '../../src/index.js';

/** What the gateway's file and the flags over it say of scheduling. */
export interface Scheduling {
  readonly config: SchedulerConfig & { readonly balancer: BalancerOptions };
  /** Engines that the file names. */
  readonly engines: number;
}

export interface SchedulingFlags {
  readonly config?: string;
  readonly window?: string;
  readonly gate?: string;
}

/** More than any run comes to. Clients here wait as long as it takes: what one policy refuses, another would serve. */
const PATIENT = { queueMs: 1e12, queuedMax: 1e9, queuedPerTenantMax: 1e9, programsMax: 2e9 };

/**
 * The gateway's own reading of its file, without the environment: the same command gives the same result everywhere.
 * Limits of queue and patience are lifted unless the file sets them.
 * @throws ConfigError with every problem found
 */
export function readScheduling({ config: file, window, gate }: SchedulingFlags): Scheduling {
  const flags: Override[] = [
    ...(window === undefined ? [] : [{ path: 'admission.window', origin: '--window', text: window }]),
    ...(gate === undefined ? [] : [{ path: 'admission.gate', origin: '--gate', text: gate }]),
  ];
  // Without a file its name must not come from the environment either.
  const config = file === undefined ? loadConfig({ flags }) : loadConfig({ file, env: SOME_SECRETS, flags });
  const set = file === undefined ? {} : readConfigFile(file).values;
  const sets = (section: string, key: string) => (set[section] as Record<string, unknown> | null | undefined)?.[key] !== undefined; // prettier-ignore
  const { policy, starvation, admission, balancer, limits, timeouts } = config;
  const limit = (key: Exclude<keyof typeof PATIENT, 'queueMs'>) => (sets('limits', key) ? limits[key] : PATIENT[key]);
  return {
    config: {
      policy,
      starvation,
      admission,
      balancer,
      limits: {
        attemptsMax: limits.attemptsMax,
        clientRetries: limits.clientRetries,
        programsMax: limit('programsMax'),
        queuedMax: limit('queuedMax'),
        queuedPerTenantMax: limit('queuedPerTenantMax'),
      },
      timeouts: {
        leaseMs: timeouts.leaseMs,
        ghostMs: timeouts.ghostMs,
        queueMs: sets('timeouts', 'queueMs') ? timeouts.queueMs : PATIENT.queueMs,
      },
    },
    engines: enginesOf(config),
  };
}

const enginesOf = ({ engines, embedded }: Config): number => engines.length + embedded;

/** Keys and tokens that the file leaves to the environment are of no use here: any will do, if no two are alike. */
const SOME_SECRETS: Readonly<Record<string, string | undefined>> = new Proxy(
  {},
  { get: (_, name) => createHash('sha256').update(String(name)).digest('hex') },
);
