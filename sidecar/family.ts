import { hash } from 'node:crypto';
import type { Family } from '../src/index.js';
import { openingOf, promptBytes } from './apis/index.js';
import type { JsonObject } from './apis/index.js';
import type { TokenEstimator } from './tokens.js';

/** Hexadecimal digits of the hash: 32 bits, which an event log can hide one to one. */
const DIGITS = 8;

/** The programs whose prompts begin with the same instructions and tools, for the same model; undefined: nothing is known of any. */
export function familyOf(model: string, body: JsonObject, estimator: TokenEstimator): Family | undefined {
  const opening = openingOf(body);
  if (opening.length === 0) return undefined;
  const id = Number.parseInt(hash('sha1', JSON.stringify([model, opening]), 'hex').slice(0, DIGITS), 16);
  return { id, tokens: estimator.estimate(model, promptBytes(...opening)) };
}
