import { z } from 'zod';
import { unwrap } from './keys.js';
import { MAKE_HASH, plainUrl } from './note.js';
import type { Config } from './schema.js';
import { didYouMean } from './similar.js';

export interface ConfigProblem {
  /** Path of the key to change, such as `engines[0].url`; '' if the problem is not in a single key. */
  readonly path: string;
  readonly message: string;
  /** Origin of the value: `FILE:LINE`, a variable or a flag. Absent: the value is a default. */
  readonly origin?: string | undefined;
  /** Lines of the file around the fault, if the message alone does not show it. */
  readonly excerpt?: readonly string[];
}

/** An invalid configuration, with all problems found. Messages never contain a key's value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  /** @param sound the settings but for the keys at fault, which have their defaults; undefined: too little is left */

  constructor(
    readonly problems: readonly ConfigProblem[],
    readonly sound?: Config,
  ) {
    super(problems.map(problemText).join('\n'));
  }
}

/** One line: `maitred.yaml:3: listen.port: must be at most 65535`. A flag or a variable stands for its key. */
export function problemText({ path, message, origin }: ConfigProblem): string {
  const isNamed =
    origin !== undefined &&
    /^(?:--|MAITRED_)[\w-]+$/.test(origin) &&
    (path === 'engines[0].url' || !path.includes('['));
  return [origin, isNamed ? '' : path, message].filter((part) => part !== undefined && part !== '').join(': ');
}

export type Path = readonly (string | number)[];

export const pathText = (path: Path): string =>
  path.map((part, index) => (typeof part === 'number' ? `[${part}]` : index === 0 ? part : `.${part}`)).join('');

/** Words about keys that have left, and about a usual mistake. */
const REPLACEMENTS: ReadonlyMap<string, string> = new Map([
  ['kubernetes', '; use dns with the name of a headless Service (docs/OPERATIONS.md#kubernetes)'],
  ['rewritten', ': leave it out, as answers are always looked for'],
  ['host', '; it stands in listen, or in the url of an engine'],
  ['port', '; it stands in listen, or in the url of an engine'],
  ['engines.key', '; did you mean apiKey?'],
  ['key', `; give its sha256: ${MAKE_HASH}`],
  ['engine', '; did you mean engines, a list with a line for each: "- url: http://gpu-1:8000"?'],
]);

export interface Problem {
  readonly path: Path;
  readonly message: string;
}

/** The value as the schema has it, or the problems in our words, each with its key's path. */
export function checkValue<T extends z.ZodType>(
  schema: T,
  value: unknown,
): { readonly data?: z.output<T> | undefined; readonly problems: readonly Problem[] } {
  const { data, error } = schema.safeParse(value, { reportInput: true });
  const schemaOf = (path: Path) => schemaAt(schema, path, value);
  return { data, problems: (error?.issues ?? []).flatMap((issue) => problemsOf(issue, [], schemaOf)) };
}

/** @param before path of the value that the issue is about a part of */
function problemsOf(
  issue: z.core.$ZodIssue,
  before: Path,
  schemaOf: (path: Path) => z.core.$ZodType | undefined,
): Problem[] {
  const path = [...before, ...issue.path.map((part) => (typeof part === 'symbol' ? String(part) : part))];
  if (issue.code === 'invalid_union') {
    // Of several shapes, the one that was meant; of plain values, the schema's own words.
    const isOwn = issue.message.startsWith('must ');
    const meant = issue.errors.find(
      (each) => !each.some((other) => other.path.length === 0 && (isOwn || other.code === 'invalid_type')),
    );
    if (meant !== undefined) return meant.flatMap((each) => problemsOf(each, path, schemaOf));
  }
  if (issue.code !== 'unrecognized_keys') return [{ path, message: messageOf(issue, schemaOf(path)) }];
  const at = schemaOf(path);
  const known = at instanceof z.ZodObject ? Object.keys(at.shape) : [];
  const list = known.length > 0 ? `; known here: ${known.join(', ')}` : '';
  return issue.keys.map((key) => ({
    path: [...path, key],
    message: `is not a known key${REPLACEMENTS.get(`${path[0]}.${key}`) ?? REPLACEMENTS.get(key) ?? nested(key, known) ?? (didYouMean(key, known) || list)}`,
  }));
}

/** How to write `listen.port: 1`, as flags and messages name it. */
function nested(key: string, known: readonly string[]): string | undefined {
  const [section = '', ...rest] = key.split('.');
  return rest.length > 0 && known.includes(section)
    ? `; write ${section}: {${rest.join(': {')}: …${'}'.repeat(rest.length)}`
    : undefined;
}

/** The schema at a path; of several shapes, that of the mapping there. Undefined: none. */
function schemaAt(schema: z.core.$ZodType, [part, ...rest]: Path, value: unknown): z.core.$ZodType | undefined {
  const at = optionFor(unwrap(schema), value);
  if (part === undefined) return at instanceof z.ZodObject ? at : schema;
  const inner: z.core.$ZodType | undefined =
    at instanceof z.ZodObject
      ? (at.shape[part] as z.core.$ZodType | undefined)
      : at instanceof z.ZodArray
        ? at.element
        : at instanceof z.ZodRecord
          ? at.valueType
          : undefined;
  return inner && schemaAt(inner, rest, (value as Readonly<Record<string | number, unknown>> | undefined)?.[part]);
}

/** Of the schemas of mappings, the one whose fixed words the value has. */
function optionFor(schema: z.core.$ZodType, value: unknown): z.core.$ZodType {
  if (!(schema instanceof z.ZodUnion)) return schema;
  const fits = (option: z.core.$ZodType) =>
    option instanceof z.ZodObject &&
    Object.entries(option.shape).every(
      ([key, each]) =>
        !(each instanceof z.ZodLiteral) || each.value === (value as Record<string, unknown> | undefined)?.[key],
    );
  return schema.options.map((option) => optionFor(unwrap(option), value)).find(fits) ?? schema;
}

function messageOf(issue: z.core.$ZodIssue, schema: z.core.$ZodType | undefined): string {
  if (issue.input === undefined && (issue.code === 'invalid_type' || issue.code === 'invalid_union'))
    return 'is missing';
  // A schema's own words begin as ours do; the library's do not.
  if (issue.message.startsWith('must ')) return issue.message;
  if (issue.code === 'invalid_type') {
    const words =
      issue.path[0] === 'engines' && issue.path.length <= 2
        ? `${issue.expected === 'array' ? 'a list with a line for each engine: ' : 'written '}"- url: ${urlIn(issue.input)}"`
        : schema && shapeOf(schema, issue.path.at(-1));
    const isReference = typeof issue.input === 'string' && issue.input.startsWith('env:');
    const isBare = issue.expected === 'string' && ['number', 'boolean'].includes(typeof issue.input);
    return `${issue.input === null ? 'has no value: ' : ''}must be ${words ?? TYPES[issue.expected] ?? issue.expected}${isReference ? '; only secrets may name a variable' : isBare ? ': put it in quotes' : ''}`;
  }
  if (issue.code === 'invalid_value') return mustBe(issue.values.map(String), issue.input);
  if (issue.code === 'too_small' && issue.origin !== 'number' && issue.minimum === 1) return 'must not be empty';
  if (issue.code === 'too_small')
    return `must ${SIZES[issue.origin] ?? 'be'} ${issue.inclusive === false ? 'above' : 'at least'} ${issue.minimum}`;
  if (issue.code === 'too_big')
    return `must ${SIZES[issue.origin] ?? 'be'} ${issue.inclusive === false ? 'below' : 'at most'} ${issue.maximum}`;
  if (issue.code === 'invalid_key') return issue.issues[0]?.message ?? issue.message;
  if (issue.code === 'invalid_union' && 'options' in issue) {
    const { discriminator = '', options = [], input } = issue;
    return mustBe(options.map(String), (input as Readonly<Record<string, unknown>>)[discriminator]);
  }
  return issue.message;
}

const mustBe = (words: readonly string[], input: unknown): string =>
  `${input === undefined ? 'is missing: ' : ''}must be ${words.length === 1 ? '' : 'one of '}${words.join(', ')}${typeof input === 'string' && words.length > 1 ? didYouMean(input, words) : ''}`;

const TYPES: Readonly<Record<string, string>> = {
  int: 'a whole number',
  number: 'a number',
  string: 'text',
  boolean: 'true or false',
  object: 'a mapping, "key: value"',
  record: 'a mapping, "key: value"',
  array: 'a list, such as [a, b]',
  tuple: 'a list, such as [a, b]',
};
const SIZES: Readonly<Record<string, string>> = { string: 'have a length of', array: 'have a length of' };

/** An engine's URL that was written in the place of its mapping, if it may be shown; otherwise an example. */
function urlIn(input: unknown): string {
  const text = typeof input === 'string' ? input.replace(/^-? *url: */, '') : '';
  const url = /^[\w.-]+(:\d+)?$/.test(text) ? `http://${text}` : text;
  return plainUrl.safeParse(url).success ? url : 'http://gpu-1:8000';
}

const KEYS_SHOWN = 3;

/** A section in words by its keys, a number by its range: `a number of milliseconds from 1 to 9, such as 5`. */
function shapeOf(schema: z.core.$ZodType, name: PropertyKey | undefined): string | undefined {
  const number = unwrap(schema);
  if (number instanceof z.ZodArray && unwrap(number.element) instanceof z.ZodObject)
    return shapeOf(number.element, name)?.replace('a mapping', 'a list of mappings');
  if (number instanceof z.ZodObject) {
    const keys = Object.keys(number.shape);
    return `a mapping with ${keys.length > KEYS_SHOWN ? 'keys such as ' : ''}${keys.slice(0, KEYS_SHOWN).join(', ')}`;
  }
  if (!(number instanceof z.ZodNumber)) return undefined;
  const [, unit] = /(ms|bytes|tokens|seconds)(?:max|min)?$/i.exec(String(name)) ?? [];
  const { minValue, maxValue, format } = number;
  const isBounded = Number.isSafeInteger((minValue ?? NaN) - 1) && Number.isSafeInteger((maxValue ?? NaN) + 1);
  const usual = schema instanceof z.ZodDefault ? schema.def.defaultValue : undefined;
  return [
    format === 'safeint' ? 'a whole number' : 'a number',
    unit === undefined ? '' : ` of ${unit.toLowerCase().replace('ms', 'milliseconds')}`,
    isBounded ? ` from ${minValue} to ${maxValue}` : '',
    typeof usual === 'number' ? `, such as ${usual}` : '',
  ].join('');
}
