import { createHash } from 'node:crypto';
import { stringify } from 'yaml';
import type { BalancerOptions } from '../../loadbalancer/index.js';
import { DEFAULT_PRESET, SIM_RETENTION_NAMES, type SimRetentionName } from '../../sim/index.js';
import { loadConfig, type Config, type Override } from '../../sidecar/config/index.js';
import type { SchedulerConfig } from '../../src/index.js';
import { warnOfConfig } from '../config.js';
import { AXES, type Axis, flagOf, type Lists, type Value, type Values } from './axes.js';

/** A rule for retention that no gateway can be set to, if it is one. */
export const simRetentionOf = (rule: Value | undefined): SimRetentionName | undefined =>
  SIM_RETENTION_NAMES.find((name) => name === rule);

/** Keys of `engines[]` that the model of an engine has, and the flag that says the same of all. */
const SIZES = {
  capacityTokens: '--kv-tokens',
  window: '--window',
  hostTokens: '--host-tokens',
  hostTokensPerSecond: '--preset',
  contextTokensMax: '--preset',
} as const;
type Size = keyof typeof SIZES;

export interface Scheduling {
  readonly config: SchedulerConfig & Pick<Config, 'objectives'> & { readonly balancer: BalancerOptions };
  readonly engines: number;
  /** Sizes of the file’s engines; none where they differ. */
  readonly sizes: Readonly<Partial<Record<Size, number>>>;
}

/** Keys of the configuration, by the names of their flags. */
const KEYS = {
  policy: 'policy.name',
  balancer: 'balancer.name',
  window: 'admission.window',
  foresight: 'policy.foresight',
  tenants: 'policy.tenants',
  retention: 'admission.retention',
  gate: 'admission.gate',
  hostGate: 'admission.hostGate',
} as const satisfies Partial<Record<Axis, string>>;

/**
 * The gateway's own reading of its file, without the environment: the same command gives the same result everywhere.
 * @throws ConfigError with every problem found
 */
export function readScheduling(file?: string, settings: Values = {}, warn = warnOfConfig): Scheduling {
  const flags = (['window', 'foresight', 'tenants', 'retention', 'gate', 'hostGate'] as const).flatMap(
    (name): Override[] => {
      const value = settings[name];
      return value === undefined || (name === 'retention' && simRetentionOf(value) !== undefined)
        ? []
        : [{ path: KEYS[name], origin: flagOf(name), text: String(value) }];
    },
  );
  // Without a file, its name must not come from the environment either.
  const config = file === undefined ? loadConfig({ flags }) : loadConfig({ file, env: SOME_SECRETS, flags, warn });
  const { policy, starvation, objectives, admission, balancer, limits, timeouts, engines, embedded } = config;
  const { sizes, differing } = sizesOf(config, settings);
  if (file !== undefined)
    for (const [path = '', message = ''] of leftOut(config, settings, differing)) warn({ path, message, origin: file });
  return {
    config: { policy, starvation, objectives, admission, balancer, limits, timeouts },
    engines: engines.length + embedded,
    sizes,
  };
}

function sizesOf({ engines, discovery }: Config, { window }: Values) {
  const names = (Object.keys(SIZES) as Size[]).filter((name) => name !== 'window' || window === undefined);
  const all = names.map((name) => [name, [...new Set([...engines, ...discovery].map((each) => each[name]))]] as const);
  const sizes = Object.fromEntries(
    all.flatMap(([name, [value, ...others]]) => (value === undefined || others.length > 0 ? [] : [[name, value]])),
  );
  return {
    sizes: sizes as Scheduling['sizes'],
    differing: all.flatMap(([name, { length }]) => (length > 1 ? name : [])),
  };
}

/** Keys of the file that the simulated engines do not follow, as they are all alike. */
function* leftOut({ discovery }: Config, { engines, preset }: Values, differing: readonly Size[]) {
  for (const name of differing)
    yield [
      `engines[].${name}`,
      `differs from engine to engine, so it is left out: the simulated ones are alike (${SIZES[name]})`,
    ];
  if (discovery.length > 0 && engines === undefined)
    yield ['discovery', 'does not tell how many engines it will find: --engines does'];
  if (preset === undefined)
    yield ['engines', `does not tell models’ sizes and machines: all are ${DEFAULT_PRESET} (--preset)`];
}

/** Stand-ins for keys and tokens that the file takes from the environment: any will do, as long as no two are equal. */
const SOME_SECRETS: Readonly<Record<string, string | undefined>> = new Proxy(
  {},
  { get: (_, name) => createHash('sha256').update(String(name)).digest('hex') },
);

/** Whether a gateway has these values; absent: one whose file says nothing. */
export const isDefault = (values: Values, config: object = loadConfig({})): boolean =>
  settingsOf(values).every(([section, key, value]) => ownOf(config, section, key) === value);

const ownOf = (config: object, section: string, key: string) =>
  (config as Record<string, Record<string, unknown>>)[section]?.[key];

/** The lists with those first that others are compared with: no scheduling, or a gateway’s own values. */
export function ownFirst<L extends Lists>(lists: L, config: object): L {
  const sorted = settingsOf(lists).map(([section, key, list, axis]) => {
    const own = axis === 'policy' && list.includes('pass-through') ? 'pass-through' : ownOf(config, section, key);
    return [axis, [...list].sort((a, b) => Number(b === own) - Number(a === own))];
  });
  return { ...lists, ...Object.fromEntries(sorted) } as L;
}

const settingsOf = <T>(values: { readonly [A in Axis]?: T }) =>
  AXES.flatMap((axis) => {
    if (!(axis in KEYS) || values[axis] === undefined) return [];
    const [section = '', key = ''] = KEYS[axis as keyof typeof KEYS].split('.');
    return [[section, key, values[axis], axis] as const];
  });

/** The values as lines of the gateway's YAML file, under a heading. @param file the gateway’s, which may have them */
export function fragmentOf(values: Values, file?: string): string[] {
  if (file !== undefined && isDefault(values, readScheduling(file, {}, () => undefined).config))
    return [`${file} has it so.`];
  const sections: Record<string, Record<string, unknown>> = {};
  for (const [section, key, value] of settingsOf(values)) sections[section] = { ...sections[section], [key]: value };
  const heading = isDefault(values)
    ? 'This is the gateway’s default. Where its YAML file sets something else, set there:'
    : 'In the gateway’s YAML file:';
  return [heading, ...stringify(sections).trimEnd().split('\n')];
}
