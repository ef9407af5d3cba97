import type { IncomingHttpHeaders } from 'node:http';
import { asObject, parseJson } from '../engines/json.js';

/** Error codes and types that APIs use when one key or account exceeds its limits. */
const OF_CALLER = /quota|billing|credit|rate.?limit|(requests|tokens)_per_/i;
const QUOTE_MAX = 300;

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
export function quoteOf(body: Buffer, secrets: readonly string[]): string {
  const message = errorIn(body)?.['message'];
  // Cut first: the patterns below take quadratic time, and clients may have written the text.
  let text = typeof message === 'string' ? message.slice(0, 4 * QUOTE_MAX) : '';
  text = text.slice(0, text.search(STACK) >>> 0);
  for (const secret of secrets) if (secret !== '') text = text.replaceAll(secret, '[...]');
  for (const secret of [...SECRETS, PATHS]) text = text.replaceAll(secret, '[...]');
  return text.replaceAll(/\s+/g, ' ').trim().slice(0, QUOTE_MAX);
}

/** Keys in the client's headers. */
export function secretsOf({ authorization, 'x-api-key': key }: IncomingHttpHeaders): string[] {
  return [authorization, key].map((value) => String(value ?? '').replace(/^\S+\s+/, ''));
}

/** OpenAI and Anthropic nest the error; others have its fields at the top. */
function errorIn(body: Buffer): Readonly<Record<string, unknown>> | undefined {
  const answer = asObject(parseJson(body.toString('utf8')));
  return asObject(answer?.['error']) ?? answer;
}
