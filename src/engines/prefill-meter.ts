import type { CallFinished } from '../protocol/events.js';

/** Least uncached prompt that measures prefill speed; the time of a shorter one is mostly the engine's step time. */
const TOKENS_MIN = 1024;
/** Weight of a sample below and above the mean. Other work only lengthens a prefill, so low samples weigh more. */
const WEIGHT_LOW = 1 / 16;
const WEIGHT_HIGH = 1 / 64;

/** Measures an engine's prefill time of a token, from its calls' times to first token. */
export class PrefillMeter {
  #msPerToken: number | undefined;

  /** Milliseconds a token; undefined before the first sample. */
  get msPerToken(): number | undefined {
    return this.#msPerToken;
  }

  /** Takes a sample, where the engine reported cached tokens and the first token was seen. */
  finished(dispatchedAtMs: number, startedAtMs: number | undefined, event: CallFinished): void {
    const { usage, queueMs = 0 } = event;
    if (startedAtMs === undefined || usage?.cachedTokens === undefined) return;
    const tokens = usage.promptTokens - usage.cachedTokens;
    const tookMs = startedAtMs - dispatchedAtMs - queueMs;
    if (tokens < TOKENS_MIN || tookMs <= 0) return;
    const sample = tookMs / tokens;
    this.#msPerToken ??= sample;
    this.#msPerToken += (sample - this.#msPerToken) * (sample < this.#msPerToken ? WEIGHT_LOW : WEIGHT_HIGH);
  }
}
