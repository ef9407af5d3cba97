import type { IncomingHttpHeaders } from 'node:http';
import type { JsonObject } from '../apis/api.js';
import type { ErrorNames } from '../errors.js';
import { isObject, parseObject } from '../apis/fields.js';

/** Error codes and types that APIs use when one key or account exceeds its limits. */
const OF_CALLER = /quota|billing|credit|rate.?limit|(requests|tokens)_per_/i;
const QUOTE_MAX = 300;
const SECRET_CHARS_MIN = 8;

/** Parts of an engine's message to redact: addresses, and texts that look like keys. */
const SECRETS = [
  /\b[a-z][a-z\d+.-]*:\/\/\S+/gi,
  /\b(?:bearer|basic)\s+\S+/gi,
  /\b(?:sk|pk|hf|key|api[-_]?key|token)[-_=:]\s*\S{6,}/gi,
  /\b(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?/g,
  /\b[\w.-]+:\d{2,5}\b/g,
];

/** Where a stack begins: a frame of JavaScript or Java, of Python, or of native code. */
const STACK = /\s+(?:at \S+ ?\(|at \S+:\d+|File "|Traceback \(|#\d+ 0x)/;
/** Paths of files, with line and column. */
const PATHS = /(?<![\w.])(?:[a-z]:)?(?:[\\/][\w.@+~-]+){2,}(?::\d+)*/gi;

/** Whether a 429 names, by its code or type, a limit of the caller rather than a lack of room in the engine. */
export function isOfCaller(body: Buffer): boolean {
  const error = errorIn(body);
  return [error?.['code'], error?.['type']].some((name) => typeof name === 'string' && OF_CALLER.test(name));
}

/**
 * The message of an engine's JSON error for the client: short, without addresses, paths, stacks and keys; '' without a
 * message. Other bodies are pages of servers, which tell about their insides.
 * @param secrets further texts to redact
 */
export const quoteOf = (body: Buffer, secrets: readonly string[]): string =>
  redacted(errorIn(body)?.['message'], secrets);

/** The names that an engine's JSON error gives itself, by which clients decide what to do. */
export function namesOf(body: Buffer, secrets: readonly string[]): ErrorNames {
  const error = errorIn(body);
  const [type, code, param] = ['type', 'code', 'param'].map((field) => redacted(error?.[field], secrets));
  return { ...(type && { type }), ...(code && { code }), ...(param && { param }) };
}

/** A text, if it is one, as clients may read it: without addresses, keys, stacks and paths. @param secrets as of `quoteOf` */
export function redacted(value: unknown, secrets: readonly string[] = []): string {
  // Cut first: the patterns below take quadratic time, and clients may have written the text.
  let text = typeof value === 'string' ? value.slice(0, 4 * QUOTE_MAX) : '';
  text = text.slice(0, text.search(STACK) >>> 0);
  for (const secret of secrets) if (secret !== '') text = text.replaceAll(secret, '[...]');
  for (const secret of [...SECRETS, PATHS]) text = text.replaceAll(secret, '[...]');
  return text.replaceAll(/\s+/g, ' ').trim().slice(0, QUOTE_MAX);
}

/** Whether a key is long enough to be a secret. Shorter ones (`none`) are parts of words. */
export const isSecret = (key: string): boolean => key.length >= SECRET_CHARS_MIN;

/** Secret keys in the client's headers. */
export const secretsOf = ({ authorization, 'x-api-key': key }: IncomingHttpHeaders): string[] =>
  [authorization, key].map((value) => String(value ?? '').replace(/^\S+\s+/, '')).filter(isSecret);

/** OpenAI and Anthropic nest the error; others have its fields at the top. */
function errorIn(body: Buffer): JsonObject | undefined {
  const answer = parseObject(body.toString('utf8'));
  return isObject(answer?.['error']) ? answer['error'] : answer;
}
