import { hash } from 'node:crypto';
import type { Family } from '../../src/index.js';
import { openingOf, promptBytes } from '../apis/index.js';
import type { JsonObject } from '../apis/index.js';
import type { TokenEstimator } from './tokens.js';

/** Hexadecimal digits of the hash: 32 bits, which an event log can map one to one. */
const DIGITS = 8;

/** The common beginning of a family's prompts. */
export interface Opening {
  /** Equal for the same instructions and tools, with the same model. */
  readonly id: number;
  readonly bytes: number;
}

/** Undefined: the prompt's beginning is unlikely to be shared. */
export function readOpening(model: string, body: JsonObject): Opening | undefined {
  const opening = openingOf(body);
  const text = opening.length === 0 ? undefined : textOf([model, opening]);
  if (text === undefined) return undefined;
  return {
    id: Number.parseInt(hash('sha1', text, 'hex').slice(0, DIGITS), 16),
    bytes: promptBytes(...opening),
  };
}

/** The family of programs whose prompts share a beginning. */
export function familyOf(model: string, opening: Opening | undefined, estimator: TokenEstimator): Family | undefined {
  return opening && { id: opening.id, tokens: estimator.estimate(model, opening.bytes) };
}

/** Undefined if the value nests too deep for the stack. */
function textOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}
