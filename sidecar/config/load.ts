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
  applyOverrides(
    values,
    otel.overrides.filter(({ path }) => valueAt(values, path.split('.')) === undefined),
  );
  const overrides = [...otel.overrides, ...environment.overrides, ...flags];
  const isFlagged = (override: Override) => flags.some(({ path }) => path === override.path);
  const changed = source
    ? overridden(
        values,
        environment.overrides.filter((each) => !isFlagged(each)),
        source.originOf,
        env,
      )
    : [];
  applyOverrides(values, [...environment.overrides, ...flags]);
  const originOf = (path: Path) => overrideOrigin(overrides, pathText(path)) ?? source?.originOf(path);
  const problems = environment.problems;
  const schema = isLook ? configSchema : servedSchema;
  const unset = resolveSecrets(values, env);
  const result = checkValue(schema, values);
  // Keys are checked against each other only where each alone is right.
  const faults = [...unset, ...result.problems];
  const before = leaveOut(values, faults);
  const faulty = faults.map(({ path }) => pathText(path).replace(/\[.*/, ''));
  const others = faults.length === 0 ? [] : checkValue(schema, values).problems;
  const contradictions = others.filter(({ message }) => !faulty.some((path) => message.includes(path)));
  leaveOut(values, contradictions);
  faults.push(...contradictions.map((each) => ({ ...each, path: before(each.path) })));
  for (const { path, message } of faults)
    if (problems.every((known) => known.path !== pathText(path)))
      problems.push({ path: pathText(path), message, origin: originOf(path) });
  if (result.data === undefined || problems.length > 0)
    throw new ConfigError(
      problems.sort((a, b) => lineOf(a) - lineOf(b)),
      checkValue(configKeys, values).data,
    );
  if (warn !== undefined) [...otel.warnings, ...changed].forEach(warn);
  return deepFreeze(result.data);
}

/** Takes what is at fault out of the values: keys, and elements of lists as a whole. @returns gives a path as it was before */
function leaveOut(values: unknown, faults: readonly { readonly path: Path }[]): (path: Path) => Path {
  const lists = new Map<string, unknown[]>();
  for (const { path } of faults) {
    const inList = path.findIndex((part) => typeof part === 'number');
    const above = path.slice(0, inList < 0 ? -1 : inList);
    const holder = Object(valueAt(values, above.map(String))) as object;
    if (Array.isArray(holder)) lists.set(pathText(above), holder);
    Reflect.deleteProperty(holder, path[above.length] ?? '');
  }
  const left = new Map([...lists].map(([name, list]) => [name, Object.keys(list)]));
  for (const list of lists.values()) list.splice(0, list.length, ...Object.values(list));
  return (path) =>
    path.map((part, at) =>
      typeof part === 'number' ? Number(left.get(pathText(path.slice(0, at)))?.[part] ?? part) : part,
    );
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
