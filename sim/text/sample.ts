import { isObject, type JsonObject } from '../apis/fields.js';
import { BYTES_PER_TOKEN, mix } from './tokens.js';

const WORDS = (
  'the of and a to in is that it for on with as at by from this an be are or not can one all if more when use code ' +
  'file test value line path name call step result change function module error check read write run list build ' +
  'first next then here there each between after before because while where which does should would may must find ' +
  'open close update return type data model queue cache token server client request answer engine program agent ' +
  'small large fast slow clear simple whole part same other new old'
).split(' ');

/**
 * English-looking text of exactly `tokens` tokens, a pure function of the seed. For one seed, a shorter text is a
 * prefix of a longer one except for its last character. It neither begins nor ends with a space, for clients that trim.
 */
export function prose(seed: number, tokens: number): string {
  const length = tokens * BYTES_PER_TOKEN;
  const parts: string[] = [];
  let state = seed;
  let written = 0;
  let sentenceLeft = 0;
  while (written < length) {
    state = mix(state + 0x6d2b79f5, written);
    const pick = state >>> 0;
    let word = WORDS[pick % WORDS.length] ?? '';
    if (sentenceLeft === 0) {
      word = word.charAt(0).toUpperCase() + word.slice(1);
      sentenceLeft = 5 + ((pick >>> 24) % 12);
    }
    sentenceLeft -= 1;
    const part = word + (sentenceLeft === 0 ? '. ' : ' ');
    parts.push(part);
    written += part.length;
  }
  const text = parts.join('').slice(0, length);
  return text.endsWith(' ') ? `${text.slice(0, -1)}.` : text;
}

/** Values for properties that agents act on: harmless to run, and likely to exist. */
const KNOWN: Readonly<Record<string, string>> = {
  command: 'echo maitred',
  cmd: 'echo maitred',
  path: 'README.md',
  file_path: 'README.md',
  filePath: 'README.md',
};
const FORMATS: Readonly<Record<string, string>> = {
  date: '2026-01-01',
  'date-time': '2026-01-01T00:00:00Z',
  time: '00:00:00Z',
  email: 'someone@example.com',
  uri: 'https://example.com/',
  url: 'https://example.com/',
  uuid: '00000000-0000-4000-8000-000000000000',
};
/** Depth at which recursive schemas end. */
const DEPTH_MAX = 12;

/**
 * The smallest plausible value of a JSON schema: required properties only, the first of any choice. Keywords that
 * restrict a value by computation (`pattern`, `multipleOf`, `not`, `if`) are not solved.
 */
export const sampleOf = (schema: unknown): unknown => sample(schema, schema, '', 0);

function sample(schema: unknown, root: unknown, name: string, depth: number): unknown {
  if (!isObject(schema) || depth > DEPTH_MAX) return null;
  if ('const' in schema) return schema['const'];
  const options = schema['enum'];
  if (Array.isArray(options) && options.length > 0) return options[0] as unknown;
  if (typeof schema['$ref'] === 'string') return sample(resolve(schema['$ref'], root), root, name, depth + 1);
  for (const key of ['anyOf', 'oneOf']) {
    const choices = schema[key];
    if (Array.isArray(choices) && choices.length > 0) return sample(choices[0], root, name, depth + 1);
  }
  const parts = schema['allOf'];
  if (Array.isArray(parts) && parts.length > 0) return sampleAll(schema, parts, root, name, depth);
  return sampleType(schema, root, name, depth);
}

function sampleAll(schema: JsonObject, parts: readonly unknown[], root: unknown, name: string, depth: number): unknown {
  const own = sampleType(schema, root, name, depth);
  const values = parts.map((part) => sample(part, root, name, depth + 1));
  const objects = values.filter(isObject);
  return objects.length > 0 ? (Object.assign(isObject(own) ? own : {}, ...objects) as unknown) : values[0];
}

function sampleType(schema: JsonObject, root: unknown, name: string, depth: number): unknown {
  const declared = schema['type'];
  const type: unknown = Array.isArray(declared) ? declared[0] : declared;
  switch (type) {
    case 'string':
      return sampleString(schema, name);
    case 'integer':
    case 'number':
      return sampleNumber(schema, type === 'integer');
    case 'boolean':
      return true;
    case 'null':
      return null;
    case 'array':
      return sampleArray(schema, root, name, depth);
    default:
      return type === 'object' || 'properties' in schema ? sampleObject(schema, root, depth) : {};
  }
}

function sampleArray(schema: JsonObject, root: unknown, name: string, depth: number): unknown[] {
  const items = schema['items'] ?? { type: 'string' };
  const words = isObject(items) && items['type'] === 'string' ? KNOWN[name]?.split(' ') : undefined;
  const length = Math.min(Number(schema['minItems'] ?? 0), 100);
  return words ?? Array.from({ length }, () => sample(items, root, name, depth + 1));
}

function sampleObject(schema: JsonObject, root: unknown, depth: number): Record<string, unknown> {
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const value: Record<string, unknown> = {};
  for (const key of required) {
    if (typeof key === 'string') value[key] = sample(properties[key] ?? { type: 'string' }, root, key, depth + 1);
  }
  return value;
}

function sampleString(schema: JsonObject, name: string): string {
  const format = typeof schema['format'] === 'string' ? FORMATS[schema['format']] : undefined;
  const text = format ?? KNOWN[name] ?? 'sample';
  const [least, most] = [Number(schema['minLength'] ?? 0), Number(schema['maxLength'] ?? Infinity)];
  return text.padEnd(Math.min(least, 10_000), 'x').slice(0, most);
}

function sampleNumber(schema: JsonObject, whole: boolean): number {
  const step = whole ? 1 : 0.5;
  const above = schema['exclusiveMinimum'];
  const below = schema['exclusiveMaximum'];
  const least = typeof above === 'number' ? above + step : Number(schema['minimum'] ?? -Infinity);
  const most = typeof below === 'number' ? below - step : Number(schema['maximum'] ?? Infinity);
  return whole ? Math.max(Math.min(1, Math.floor(most)), Math.ceil(least)) : Math.max(Math.min(1, most), least);
}

function resolve(reference: string, root: unknown): unknown {
  let found = root;
  for (const part of reference.replace(/^#\/?/, '').split('/').filter(Boolean)) {
    found = isObject(found) ? found[decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')] : undefined;
  }
  return found;
}
