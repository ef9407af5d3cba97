import { isDeepStrictEqual } from 'node:util';
import { readConfigFile } from './file.js';
import { CONFIG_KEYS } from './keys.js';
import { FILE_VARIABLE, applyOverrides, overridden, readEnvironment, valueAt, type Override } from './overrides.js';
import { readOtelEnvironment } from './otel.js';
import { checkValue, ConfigError, pathText, type ConfigProblem, type Path } from './problems.js';
import { configSchema, servedSchema } from './consistency.js';
import { configKeys, type Config } from './schema.js';
import { resolveSecrets } from './secrets.js';

/** Sources of a configuration, in rising precedence. */
export interface ConfigInputs {
  /** Path of a YAML file. Absent: `MAITRED_CONFIG` names it, if set. */
  readonly file?: string | undefined;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly flags?: readonly Override[];
  /** Whether nothing is to listen by it: an engine may then have the gateway's own address. */
  readonly isLook?: boolean;
  /** Called for each setting of the environment that cannot be followed, or overrides the file’s. */
  readonly warn?: (warning: ConfigProblem) => void;
}

/**
 * The effective configuration, complete, checked and frozen. Flags override the environment, which overrides the file
 * and then the defaults.
 * @throws ConfigError with all problems found
 */
export function loadConfig({ file, env = {}, flags = [], isLook = false, warn }: ConfigInputs): Config {
  const name = configFileOf({ file, env });
  const source = name === undefined ? undefined : readConfigFile(name);
  // YAML reads a section whose keys are all commented out as null.
  const values = Object.fromEntries(Object.entries(source?.values ?? {}).filter(([, value]) => value !== null));
  const environment = readEnvironment(env);
  const otel = readOtelEnvironment(env);
  // A source has set a key also if it is null.
  applyOverrides(values, otel.overrides.filter(({ path }) => valueAt(values, path.split('.')) === undefined)); // prettier-ignore
  const overrides = [...otel.overrides, ...environment.overrides, ...flags];
  const isFlagged = (override: Override) => flags.some(({ path }) => path === override.path);
  const changed = source ? overridden(values, environment.overrides.filter((each) => !isFlagged(each)), source.originOf) : []; // prettier-ignore
  applyOverrides(values, [...environment.overrides, ...flags]);
  const originOf = (path: Path) => overrideOrigin(overrides, pathText(path)) ?? source?.originOf(path);
  const problems = [...environment.problems, ...resolveSecrets(values, env, originOf)];
  const schema = isLook ? configSchema : servedSchema;
  const result = checkValue(schema, values);
  // Keys are checked against each other only where each alone is right.
  for (const { path } of result.problems)
    Reflect.deleteProperty(Object(valueAt(values, path.slice(0, -1).map(String))) as object, path.at(-1) ?? '');
  const faulty = result.problems.map(({ path }) => pathText(path).replace(/\[.*/, ''));
  const others = faulty.length === 0 ? [] : checkValue(schema, values).problems;
  const contradictions = others.filter(({ message }) => !faulty.some((path) => message.includes(path)));
  for (const { path, message } of [...result.problems, ...contradictions])
    if (problems.every((known) => known.path !== pathText(path)))
      problems.push({ path: pathText(path), message, origin: originOf(path) });
  if (result.data === undefined || problems.length > 0)
    throw new ConfigError(problems.sort((a, b) => lineOf(a) - lineOf(b)), checkValue(configKeys, values).data); // prettier-ignore
  if (warn !== undefined) [...otel.warnings, ...changed].forEach(warn);
  return deepFreeze(result.data);
}

/** 0: not from a file. */
const lineOf = ({ origin = '' }: ConfigProblem): number => Number(/:(\d+)$/.exec(origin)?.[1] ?? 0);

export function configFileOf({ file, env = {} }: ConfigInputs): string | undefined {
  return file ?? (env[FILE_VARIABLE] || undefined);
}

const overrideOrigin = (overrides: readonly Override[], path: string): string | undefined =>
  overrides.findLast((override) => path === override.path || path.startsWith(`${override.path}[`))?.origin;

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(value).forEach(deepFreeze);
  return Object.freeze(value);
}

/** `next` with the current values of keys that need a restart, and the paths of those whose change must wait. */
export function keepRestartKeys(current: Config, next: Config): { config: Config; waiting: readonly string[] } {
  const config = structuredClone(next);
  const waiting: string[] = [];
  for (const { path, segments } of CONFIG_KEYS.filter(({ note }) => note.restart)) {
    const kept = valueAt(current, segments);
    if (isDeepStrictEqual(kept, valueAt(config, segments))) continue;
    const holder = valueAt(config, segments.slice(0, -1)) as Record<string, unknown>;
    holder[segments.at(-1) ?? ''] = kept;
    waiting.push(path);
  }
  return { config: deepFreeze(config), waiting };
}
