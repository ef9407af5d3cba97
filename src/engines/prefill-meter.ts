import type { Call } from '../programs/call.js';
import type { CallFinished } from '../protocol/events.js';

/** Least uncached prompt that tells of prefill speed: shorter ones tell of the engine's steps. */
const TOKENS_MIN = 1024;
/** Weight of a sample. Other work only adds to what a prefill takes, so low values count for more. */
const WEIGHT_LOW = 1 / 16;
const WEIGHT_HIGH = 1 / 64;

/** An engine's prefill time of a token, from what its calls' first tokens took. */
export class PrefillMeter {
  #msPerToken: number | undefined;

  /** Undefined until it was measured. */
  get msPerToken(): number | undefined {
    return this.#msPerToken;
  }

  finished(call: Pick<Call, 'dispatchedAtMs' | 'startedAtMs'>, event: CallFinished): void {
    const { usage, queueMs = 0 } = event;
    if (call.startedAtMs === undefined || usage?.cachedTokens === undefined) return;
    const tokens = usage.promptTokens - usage.cachedTokens;
    const tookMs = call.startedAtMs - call.dispatchedAtMs - queueMs;
    if (tokens < TOKENS_MIN || tookMs <= 0) return;
    const sample = tookMs / tokens;
    this.#msPerToken ??= sample;
    this.#msPerToken += (sample - this.#msPerToken) * (sample < this.#msPerToken ? WEIGHT_LOW : WEIGHT_HIGH);
  }
}
