import { LRUCache } from 'lru-cache';
import { tokens, type Tokens } from '../../src/index.js';

/** Before the first measurement of a model; close to it for English text and code in most vocabularies. */
const BYTES_PER_TOKEN = 4;
/** Bounds on what one answer may claim: a request may be padded with fields that its engine ignores. */
const BYTES_PER_TOKEN_MIN = 0.5;
const BYTES_PER_TOKEN_MAX = 16;
/** Weight of the longest prompt, in tokens. */
const SAMPLE_TOKENS_MAX = 20_000;
/** Weight of the guess against measurements, in tokens. */
const GUESS_TOKENS = 1000;
/** Each answer reduces the weight of earlier ones; the ratio follows roughly the last hundred. */
const FADE = 0.99;
/** More models than any fleet serves; a forgotten model starts from the guess again. */
const MODELS_MAX = 1000;

/** Estimates prompt lengths from bytes, corrected per model by the lengths that engines report. */
export class TokenEstimator {
  readonly #seen = new LRUCache<string, { bytes: number; tokens: number }>({ max: MODELS_MAX });

  estimate(model: string, promptBytes: number): Tokens {
    const seen = this.#seen.get(model);
    const ratio = seen === undefined ? BYTES_PER_TOKEN : seen.bytes / seen.tokens;
    return tokens(promptBytes / ratio);
  }

  learn(model: string, promptBytes: number, promptTokens: number): void {
    if (promptBytes <= 0 || promptTokens <= 0) return;
    let seen = this.#seen.get(model);
    if (seen === undefined) {
      seen = { bytes: GUESS_TOKENS * BYTES_PER_TOKEN, tokens: GUESS_TOKENS };
      this.#seen.set(model, seen);
    }
    const ratio = Math.min(BYTES_PER_TOKEN_MAX, Math.max(BYTES_PER_TOKEN_MIN, promptBytes / promptTokens));
    const weight = Math.min(SAMPLE_TOKENS_MAX, promptTokens);
    seen.bytes = seen.bytes * FADE + weight * ratio;
    seen.tokens = seen.tokens * FADE + weight;
  }
}
