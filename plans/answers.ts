import type { Condition, Each, Source } from './line.js';

/** Deepest nesting of a body that is searched for references. */
const DEPTH_MAX = 200;
const INSERT = /\$\{([^{}]+)\}/g;
/** Most characters of answers in one request: each mention of an answer has all of it. */
const FILLED_CHARS_MAX = 67_108_864;

/** An answer that does not have what a line needs of it. */
export class BadAnswer extends Error {
  override readonly name = 'BadAnswer';

  constructor(
    readonly code: 'missing_answer' | 'bad_items' | 'answers_too_long',
    message: string,
  ) {
    super(message);
  }
}

type Reference = Source & { readonly path: string };

/** JSON Schema has `$ref` too, but never beside a `path` alone. */
export function isReference(value: object): value is Reference {
  const { $ref, path, ...others } = value as Record<string, unknown>;
  return typeof $ref === 'string' && typeof path === 'string' && Object.keys(others).length === 0;
}

/** Finds the ids in references. @returns why the value cannot be sent: a number that is read as infinite would become null */
export function findReferences(value: unknown, found: string[], depth = 0): string | undefined {
  if (value === Infinity || value === -Infinity) return 'has a number that is too large';
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth > DEPTH_MAX) return 'is nested too deeply';
  if (isReference(value)) return void found.push(value.$ref);
  for (const each of Object.values(value)) {
    const fault = findReferences(each, found, depth + 1);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** The text with others for each `${id}` of a line in `after`. Any other is plain text, as in shell and JavaScript. */
export const replaceInserts = (text: string, after: ReadonlySet<string>, textFor: (id: string) => string): string =>
  after.size === 0 ? text : text.replace(INSERT, (whole, id: string) => (after.has(id) ? textFor(id) : whole));

/** The value with other lines' answers in the places of its references. @param answerOf body of a line's answer @throws BadAnswer */
export function fill(value: unknown, after: ReadonlySet<string>, answerOf: (id: string) => unknown): unknown {
  let chars = 0;
  const counted = (text: string): string => {
    if ((chars += text.length) <= FILLED_CHARS_MAX) return text;
    throw new BadAnswer('answers_too_long', `The answers that it mentions have over ${FILLED_CHARS_MAX} characters.`);
  };
  const filled = (value: unknown): unknown => {
    if (typeof value === 'string') return replaceInserts(value, after, (id) => counted(textOf(answerOf(id))));
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map(filled);
    if (isReference(value)) {
      const found = valueAt(answerOf(value.$ref), value);
      counted(JSON.stringify(found));
      return found;
    }
    // From entries, because `__proto__` may be a key.
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, filled(each)]));
  };
  return filled(value);
}

/** Whether the answer passes. Texts are compared without the space around them. @throws BadAnswer */
export function holds({ $ref, path, equals, contains, not = false }: Condition, answer: unknown): boolean {
  const value = textOf(path === undefined ? answer : valueAt(answer, { $ref, path }));
  return (contains === undefined ? value.trim() === String(equals) : value.includes(contains)) !== not;
}

/** The items of an answer: of a JSON array, else the lines of its text that are not empty. @throws BadAnswer */
export function itemsOf(answer: unknown, { $ref, path, max }: Each): readonly unknown[] {
  const value = path !== undefined ? valueAt(answer, { $ref, path }) : Array.isArray(answer) ? answer : textOf(answer);
  const items = typeof value === 'string' ? itemsIn(value) : value;
  const wrong = (what: string) => new BadAnswer('bad_items', `The answer of "${$ref}" ${what}.`);
  if (!Array.isArray(items)) throw wrong('is no list: neither a JSON array nor lines');
  if (items.length > max) throw wrong(`has ${items.length} items, more than ${max}`);
  return items;
}

/** Undefined: JSON that is no array. Models like to fence JSON as code. */
function itemsIn(text: string): unknown {
  const bare = text.trim().replace(/^```\w*\n([^]*?)\n?```$/, '$1');
  if (!/^[[{]/.test(bare))
    return bare
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '');
  try {
    return JSON.parse(bare) as unknown;
  } catch {
    return undefined;
  }
}

function valueAt(answer: unknown, { $ref, path }: Reference): unknown {
  let at = answer;
  for (const key of path.split('.')) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key))
      throw new BadAnswer('missing_answer', `The answer of "${$ref}" has nothing at "${path}".`);
    at = (at as Record<string, unknown>)[key];
  }
  return at;
}

/** The parts of an answer that have its text: of chat, completions, Anthropic's messages and responses. */
interface Texts {
  readonly choices?: readonly { readonly message?: { readonly content?: unknown }; readonly text?: unknown }[];
  readonly content?: readonly { readonly text?: unknown }[];
  readonly output?: readonly ({ readonly content?: readonly ({ readonly text?: unknown } | null)[] } | null)[];
}

/** The text of an answer of any API, or its JSON without one: '' for a line left out, all texts of one with `each`. */
export function textOf(answer: unknown): string {
  if (answer === undefined || answer === null) return '';
  if (typeof answer === 'string') return answer;
  if (Array.isArray(answer)) return answer.map(textOf).join('\n\n');
  const { choices, content, output } = answer as Texts;
  const first = choices?.[0]?.message?.content ?? choices?.[0]?.text ?? content?.[0]?.text;
  if (typeof first === 'string') return first;
  const parts = Array.isArray(output)
    ? (output as NonNullable<Texts['output']>).flatMap((item) => item?.content ?? [])
    : [];
  const texts = parts.map((part) => part?.text).filter((text) => typeof text === 'string');
  return texts.length > 0 ? texts.join('') : JSON.stringify(answer);
}
