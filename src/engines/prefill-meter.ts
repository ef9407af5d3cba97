import type { CallFinished } from '../protocol/events.js';

/** Least number of tokens that measures a speed; the time of fewer is mostly the engine's step time. */
const TOKENS_MIN = 1024;
/** Weight of a sample below and above the mean. Other work only lengthens a prefill, so low samples weigh more. */
const WEIGHT_LOW = 1 / 16;
const WEIGHT_HIGH = 1 / 64;

/** Measures an engine's prefill time of a token, computed or back from host memory, by times to first token. */
export class PrefillMeter {
  /** Milliseconds a computed token, and one from host memory; undefined before the first sample. */
  msPerToken: number | undefined;
  hostMsPerToken: number | undefined;

  /**
   * Takes a sample, where the engine reported cached tokens and the first token was seen.
   * @param hostTokens tokens that came back from host memory, where the engine does not tell
   */
  finished(dispatchedAtMs: number, startedAtMs: number | undefined, event: CallFinished, hostTokens = 0): void {
    const { usage, queueMs = 0 } = event;
    if (startedAtMs === undefined || usage?.cachedTokens === undefined) return;
    const tokens = usage.promptTokens - usage.cachedTokens;
    const loaded = Math.min(usage.cachedTokens, usage.hostCachedTokens ?? hostTokens);
    const tookMs = startedAtMs - dispatchedAtMs - queueMs;
    const loadMs = loaded * (this.hostMsPerToken ?? 0);
    if (tokens >= TOKENS_MIN) this.msPerToken = learnt(this.msPerToken, (tookMs - loadMs) / tokens);
    else if (loaded >= TOKENS_MIN) {
      const computeMs = tokens * (this.msPerToken ?? 0);
      this.hostMsPerToken = learnt(this.hostMsPerToken, (tookMs - computeMs) / loaded);
    }
  }
}

function learnt(mean: number | undefined, sample: number): number | undefined {
  if (sample <= 0) return mean;
  return (mean ?? sample) + (sample - (mean ?? sample)) * (sample < (mean ?? sample) ? WEIGHT_LOW : WEIGHT_HIGH);
}
