import type { IncomingHttpHeaders } from 'node:http';
import { asObject, parseJson } from '../engines/json.js';

/** Codes and types by which APIs say that one key or account is over its limits. */
const OF_CALLER = /quota|billing|credit|rate.?limit|(requests|tokens)_per_/i;
const QUOTE_MAX = 300;

/** What must not leave with an engine's words: addresses, and what looks like a key. */
const SECRETS = [
  /\b[a-z][a-z\d+.-]*:\/\/\S+/gi,
  /\b(?:bearer|basic)\s+\S+/gi,
  /\b(?:sk|pk|hf|key|api[-_]?key|token)[-_=:]\s*\S{6,}/gi,
  /\b(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?/g,
  /\b[\w.-]+:\d{2,5}\b/g,
];

/** Whether a 429 says by its code or type that its caller is over a limit of its own, and not the engine out of room. */
export function isOfCaller(body: Buffer): boolean {
  const error = errorIn(body);
  return [error?.['code'], error?.['type']].some((name) => typeof name === 'string' && OF_CALLER.test(name));
}

/**
 * What an engine said of its failure, for a client to read: short, and without addresses and keys; '' when it said nothing.
 * @param secrets further texts to leave out
 */
export function quoteOf(body: Buffer, secrets: readonly string[]): string {
  const message = errorIn(body)?.['message'];
  let text =
    typeof message === 'string' ? message : body.toString('utf8', 0, 4 * QUOTE_MAX).replaceAll(/<[^>]*>/g, ' ');
  for (const secret of secrets) if (secret !== '') text = text.replaceAll(secret, '[...]');
  for (const secret of SECRETS) text = text.replaceAll(secret, '[...]');
  return text.replaceAll(/\s+/g, ' ').trim().slice(0, QUOTE_MAX);
}

/** The keys that a client sent. */
export function secretsOf({ authorization, 'x-api-key': key }: IncomingHttpHeaders): string[] {
  return [authorization, key].map((value) => String(value ?? '').replace(/^\S+\s+/, ''));
}

/** OpenAI and Anthropic nest the error; others have its fields at the top. */
function errorIn(body: Buffer): Readonly<Record<string, unknown>> | undefined {
  const answer = asObject(parseJson(body.toString('utf8')));
  return asObject(answer?.['error']) ?? answer;
}
