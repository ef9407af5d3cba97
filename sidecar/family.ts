import { hash } from 'node:crypto';
import type { Family } from '../src/index.js';
import { openingOf, promptBytes } from './apis/index.js';
import type { JsonObject } from './apis/index.js';
import type { TokenEstimator } from './tokens.js';

/** Hexadecimal digits of the hash: 32 bits, which an event log can hide one to one. */
const DIGITS = 8;

/** What all prompts of a family begin with. */
export interface Opening {
  /** Equal for the same instructions and tools, for the same model. */
  readonly id: number;
  readonly bytes: number;
}

/** Undefined: the prompt begins with nothing that others might share. */
export function readOpening(model: string, body: JsonObject): Opening | undefined {
  const opening = openingOf(body);
  const text = opening.length === 0 ? undefined : textOf([model, opening]);
  if (text === undefined) return undefined;
  return {
    id: Number.parseInt(hash('sha1', text, 'hex').slice(0, DIGITS), 16),
    bytes: promptBytes(...opening),
  };
}

/** The programs whose prompts begin alike. */
export function familyOf(model: string, opening: Opening | undefined, estimator: TokenEstimator): Family | undefined {
  return opening && { id: opening.id, tokens: estimator.estimate(model, opening.bytes) };
}

/** Undefined for what nests deeper than the stack is. */
function textOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}
