import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { isMapping } from './file.js';
import { CONFIG_KEYS, unwrap, type ConfigKey } from './keys.js';
import type { ConfigProblem, Path } from './problems.js';
import { didYouMean } from './similar.js';

/** A key set outside the file. Its text is converted to the key's type. */
export interface Override {
  /** Path of a key that is not inside a list. */
  readonly path: string;
  readonly text: string | readonly string[];
  /** Variable or flag, for messages. */
  readonly origin: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Variable that names the file if no flag does. */
export const FILE_VARIABLE = 'MAITRED_CONFIG';

/** Variable that names the gateway which commands ask. */
export const URL_VARIABLE = 'MAITRED_URL';
const OTHERS = [FILE_VARIABLE, URL_VARIABLE];

/**
 * Variables that Kubernetes adds to every pod for a Service called `maitred`: neither ours nor the user's mistake. It
 * sets MAITRED_PORT to a URL; if that is a number, the user meant another variable.
 */
const SERVICE_LINK = /^MAITRED_(SERVICE_HOST=|SERVICE_PORT[_=]|PORT_\d+_(TCP|UDP|SCTP)[_=]|PORT=(tcp|udp|sctp):)/;

const BY_VARIABLE = new Map(CONFIG_KEYS.flatMap((key) => (key.env === undefined ? [] : [[key.env, key] as const])));
const BY_PATH = new Map(CONFIG_KEYS.map((key) => [key.path, key]));

/** Overrides from the environment. An empty variable counts as unset; unknown names with our prefix are problems. */
export function readEnvironment(env: Environment): { overrides: Override[]; problems: ConfigProblem[] } {
  const overrides: Override[] = [];
  const problems: ConfigProblem[] = [];
  for (const [variable, text] of Object.entries(env)) {
    if (!variable.startsWith('MAITRED_') || OTHERS.includes(variable) || SERVICE_LINK.test(`${variable}=${text}`))
      continue;
    const key = BY_VARIABLE.get(variable);
    if (key === undefined) {
      problems.push({ path: '', message: `is not a known variable${meantBy(variable)}`, origin: variable });
    } else if (text !== undefined && text.trim() !== '') {
      overrides.push({ path: key.path, text: isList(key) ? splitList(text) : text, origin: variable });
    }
  }
  return { overrides, problems };
}

/** The known variable that `variable` becomes with another section or key; otherwise the most similar one. */
function meantBy(variable: string): string {
  const known = [...BY_VARIABLE.keys(), ...OTHERS];
  const tail = variable.slice('MAITRED'.length);
  const whole = known.find((name) => name.endsWith(tail));
  return didYouMean(whole ?? variable, known) || '; docs/CONFIG.md says how they are named';
}

/** The overrides of keys that the file sets to something else. @param values as the file has them, also as `env:NAME` */
export function overridden(
  values: unknown,
  given: readonly Override[],
  originOf: (path: Path) => string | undefined,
  env: Environment,
) {
  return given.flatMap(({ path, text, origin }): ConfigProblem[] => {
    const key = BY_PATH.get(path);
    const set = key && valueAt(values, key.segments);
    const own = typeof set === 'string' && set.startsWith('env:') ? env[set.slice('env:'.length)]?.trim() : set;
    if (key === undefined || own === undefined || isDeepStrictEqual(own, valueOf(key, text))) return [];
    const file = originOf(key.segments) ?? 'the file';
    return [{ path, message: `overrides ${path} of ${file}: unset it for the file’s to count`, origin }];
  });
}

export const valueAt = (values: unknown, segments: readonly string[]): unknown =>
  segments.reduce((node, name) => (node as Record<string, unknown> | null | undefined)?.[name], values);

/** Sets the overrides in `values`; later ones win. The schema then rejects a section that is not a mapping. */
export function applyOverrides(values: Record<string, unknown>, overrides: readonly Override[]): void {
  for (const { path, text } of overrides) {
    const key = BY_PATH.get(path);
    if (key === undefined) throw new Error(`${path} is not a key`);
    let section: unknown = values;
    for (const name of key.segments.slice(0, -1)) section = isMapping(section) ? (section[name] ??= {}) : undefined;
    if (isMapping(section)) section[key.segments.at(-1) ?? ''] = valueOf(key, text);
  }
}

function valueOf(key: ConfigKey, text: string | readonly string[]): unknown {
  if (typeof text === 'string') return scalarOf(key, text.trim());
  return key.path === 'engines' ? text.map((url) => ({ url })) : text;
}

/** The reading of `text` that the key accepts; if none, the likeliest one, so that the error message fits. */
function scalarOf(key: ConfigKey, text: string): unknown {
  const number = /^[+-]?[\d.]+(e[+-]?\d+)?$/i.test(text) ? Number(text) : undefined;
  const readings: unknown[] = [text, number, text === 'true' ? true : text === 'false' ? false : undefined];
  if (text === 'null') readings.push(null);
  const taken = readings.find((reading) => reading !== undefined && key.schema.safeParse(reading).success);
  return taken === undefined ? (number ?? text) : taken;
}

const isList = (key: ConfigKey) => unwrap(key.schema) instanceof z.ZodArray;
const splitList = (text: string) =>
  text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
