import { LRUCache } from 'lru-cache';
import { tokens, type Tokens } from '../src/index.js';

/** Bytes a token before a model has told; English text and code are near it in most vocabularies. */
const BYTES_PER_TOKEN = 4;
/** The weight of that guess against what a model tells, in tokens. */
const GUESS_TOKENS = 1000;
/** What one answer leaves of the weight of those before it: the ratio follows the last hundred or so. */
const FADE = 0.99;
/** More than any fleet serves; a model forgotten starts from the guess again. */
const MODELS_MAX = 1000;

/** Estimates prompt lengths from bytes, corrected model by model by the lengths that engines report. */
export class TokenEstimator {
  readonly #seen = new LRUCache<string, { bytes: number; tokens: number }>({ max: MODELS_MAX });

  estimate(model: string, promptBytes: number): Tokens {
    const seen = this.#seen.get(model);
    const ratio = seen === undefined ? BYTES_PER_TOKEN : seen.bytes / seen.tokens;
    return tokens(promptBytes / ratio);
  }

  /** A prompt of so many bytes was so many tokens. */
  learn(model: string, promptBytes: number, promptTokens: number): void {
    if (promptBytes <= 0 || promptTokens <= 0) return;
    let seen = this.#seen.get(model);
    if (seen === undefined) {
      seen = { bytes: GUESS_TOKENS * BYTES_PER_TOKEN, tokens: GUESS_TOKENS };
      this.#seen.set(model, seen);
    }
    seen.bytes = seen.bytes * FADE + promptBytes;
    seen.tokens = seen.tokens * FADE + promptTokens;
  }
}
