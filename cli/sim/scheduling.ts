import { createHash } from 'node:crypto';
import type { BalancerOptions } from '../../loadbalancer/index.js';
import { loadConfig } from '../../sidecar/config/load.js';
import type { Override } from '../../sidecar/config/overrides.js';
import type { Config } from '../../sidecar/config/schema.js';
import type { SchedulerConfig } from '../../src/index.js';
import { warnOfConfig } from '../config-options.js';

/** Clairvoyant retention, which no gateway can be set to. */
export const BELADY = 'belady';

/** Scheduling settings from the gateway's file and the flags over it. */
export interface Scheduling {
  readonly config: SchedulerConfig & { readonly balancer: BalancerOptions };
  /** Number of engines in the file. */
  readonly engines: number;
}

export interface SchedulingFlags {
  readonly config?: string;
  readonly window?: string;
  readonly gate?: string;
  readonly foresight?: string;
  readonly tenants?: string;
  readonly retention?: string;
}

/**
 * The gateway's own reading of its file, without the environment: the same command gives the same result everywhere.
 * @throws ConfigError with every problem found
 */
export function readScheduling({
  config: file,
  window,
  gate,
  foresight,
  tenants,
  retention,
}: SchedulingFlags): Scheduling {
  const flags: Override[] = [
    ...(window === undefined ? [] : [{ path: 'admission.window', origin: '--window', text: window }]),
    ...(foresight === undefined ? [] : [{ path: 'policy.foresight', origin: '--foresight', text: foresight }]),
    ...(tenants === undefined ? [] : [{ path: 'policy.tenants', origin: '--tenants', text: tenants }]),
    ...(retention === undefined || retention === BELADY
      ? []
      : [{ path: 'admission.retention', origin: '--retention', text: retention }]),
    ...(gate === undefined ? [] : [{ path: 'admission.gate', origin: '--gate', text: gate }]),
  ];
  // Without a file, its name must not come from the environment either.
  const config =
    file === undefined ? loadConfig({ flags }) : loadConfig({ file, env: SOME_SECRETS, flags, warn: warnOfConfig });
  const { policy, starvation, admission, balancer, limits, timeouts } = config;
  return { config: { policy, starvation, admission, balancer, limits, timeouts }, engines: enginesOf(config) };
}

const enginesOf = ({ engines, embedded }: Config): number => engines.length + embedded;

/** Stand-ins for keys and tokens that the file takes from the environment: any will do, as long as no two are equal. */
const SOME_SECRETS: Readonly<Record<string, string | undefined>> = new Proxy(
  {},
  { get: (_, name) => createHash('sha256').update(String(name)).digest('hex') },
);
