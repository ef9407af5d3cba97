/** Completions before a rate is known; each later one has the weight 1 / this number. */
const COMPLETIONS_MIN = 64;
/** Age beyond which a rate no longer applies to new calls. */
const MEMORY_MS = 600_000;

/**
 * The rate at which a model's engines work off their backlog: the mean time between two completions while calls wait,
 * over about the last hundred. Times without a backlog do not count: arrivals, not engines, set the pace then.
 */
export class DrainRate {
  #completions = 0;
  #msPerCall = 0;
  /** The last completion that left calls waiting. */
  #lastMs: number | undefined;

  /** A call has left its engine. @param isBacklogged whether calls for the model wait */
  completed(isBacklogged: boolean, nowMs: number): void {
    const gapMs = nowMs - (this.#lastMs ?? nowMs);
    if (this.#lastMs !== undefined && gapMs > MEMORY_MS) this.reset();
    else if (this.#lastMs !== undefined && isBacklogged) {
      this.#completions = Math.min(this.#completions + 1, COMPLETIONS_MIN);
      this.#msPerCall += (gapMs - this.#msPerCall) / this.#completions;
    }
    this.#lastMs = isBacklogged ? nowMs : undefined;
  }

  /** Forgets the rate: other engines serve the model now. */
  reset(): void {
    this.#completions = 0;
    this.#msPerCall = 0;
    this.#lastMs = undefined;
  }

  /** Mean milliseconds between completions; undefined while too little is known. */
  msPerCall(nowMs: number): number | undefined {
    const isKnown = this.#completions === COMPLETIONS_MIN && nowMs - (this.#lastMs ?? -Infinity) <= MEMORY_MS;
    return isKnown ? this.#msPerCall : undefined;
  }
}
