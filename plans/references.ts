/** Deepest nesting of a body that is searched for references. */
const DEPTH_MAX = 200;
const INSERT = /\$\{([^{}]+)\}/g;

/** An answer that a line needs has nothing at the given path. */
export class MissingAnswer extends Error {
  override readonly name = 'MissingAnswer';
}

/** A body that is nested too deeply to be searched. */
export class TooDeep extends Error {
  override readonly name = 'TooDeep';
}

interface Reference {
  readonly $ref: string;
  readonly path: string;
}

/** JSON Schema has `$ref` too, but never beside a `path` alone. */
export function isReference(value: object): value is Reference {
  const { $ref, path, ...others } = value as Record<string, unknown>;
  return typeof $ref === 'string' && typeof path === 'string' && Object.keys(others).length === 0;
}

/**
 * Whether the text contains `${id}` of a line that is named in `after`. Any other `${...}` is plain text: prompts are
 * full of shell and JavaScript.
 */
export const insertsAny = (text: string, after: ReadonlySet<string>): boolean =>
  after.size > 0 && [...text.matchAll(INSERT)].some(([, id = '']) => after.has(id));

/** The text with others in the places of `${id}` of lines that are named in `after`. */
export const replaceInserts = (text: string, after: ReadonlySet<string>, textFor: (id: string) => string): string =>
  after.size === 0 ? text : text.replace(INSERT, (whole, id: string) => (after.has(id) ? textFor(id) : whole));

/** Ids in references, in their order, with repetitions. @throws TooDeep */
export function referencedBy(value: unknown, found: string[] = [], depth = 0): string[] {
  if (typeof value !== 'object' || value === null) return found;
  if (depth > DEPTH_MAX) throw new TooDeep(`has more than ${DEPTH_MAX} levels of nesting`);
  if (isReference(value)) found.push(value.$ref);
  else for (const each of Object.values(value)) referencedBy(each, found, depth + 1);
  return found;
}

/**
 * The value with other lines' answers in the places of its references.
 * @param answerOf body of a line's answer
 * @throws MissingAnswer
 */
export function fill(value: unknown, after: ReadonlySet<string>, answerOf: (id: string) => unknown): unknown {
  if (typeof value === 'string') return replaceInserts(value, after, (id) => textOf(answerOf(id)));
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((each) => fill(each, after, answerOf));
  if (isReference(value)) return valueAt(answerOf(value.$ref), value);
  // From entries, because `__proto__` may be a key.
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, fill(each, after, answerOf)]));
}

/** @throws MissingAnswer */
export function valueAt(answer: unknown, { $ref, path }: Reference): unknown {
  let at = answer;
  for (const key of path.split('.')) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key))
      throw new MissingAnswer(`The answer of "${$ref}" has nothing at "${path}".`);
    at = (at as Record<string, unknown>)[key];
  }
  return at;
}

/** Places of the text in the answers of the APIs: chat, completions, Anthropic's messages. */
const TEXTS = [
  ['choices', 0, 'message', 'content'],
  ['choices', 0, 'text'],
  ['content', 0, 'text'],
];

/**
 * The text of an answer, whatever its API; the whole answer as JSON if it has none. That of a line that was left out is
 * empty, that of a line with `each` joins those of its calls.
 */
export function textOf(answer: unknown): string {
  if (answer === undefined || answer === null) return '';
  if (typeof answer === 'string') return answer;
  if (Array.isArray(answer)) return answer.map(textOf).join('\n\n');
  for (const path of TEXTS) {
    let at: unknown = answer;
    for (const key of path) at = (at as Record<string, unknown> | null | undefined)?.[key];
    if (typeof at === 'string') return at;
  }
  const { output } = answer as { readonly output?: unknown };
  const parts = Array.isArray(output)
    ? output.flatMap((item: { content?: unknown } | null) => item?.content ?? [])
    : [];
  const texts = parts.map((part) => (part as { readonly text?: unknown } | null)?.text);
  const found = texts.filter((text) => typeof text === 'string');
  return found.length > 0 ? found.join('') : JSON.stringify(answer);
}
