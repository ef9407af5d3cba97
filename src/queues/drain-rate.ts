/** Completions before there is a rate, and what each new one weighs against those before it. */
const COMPLETIONS_MIN = 64;
/** A rate this old says nothing of the calls that come now. */
const MEMORY_MS = 600_000;

/**
 * How fast a model's engines work off their backlog: the mean time between two completions while calls wait, over the
 * last hundred or so. Times without a backlog do not count, as engines then finish only what comes.
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

  /** Other engines serve the model now. */
  reset(): void {
    this.#completions = 0;
    this.#msPerCall = 0;
    this.#lastMs = undefined;
  }

  /** Undefined while too little is known. */
  msPerCall(nowMs: number): number | undefined {
    const isKnown = this.#completions === COMPLETIONS_MIN && nowMs - (this.#lastMs ?? -Infinity) <= MEMORY_MS;
    return isKnown ? this.#msPerCall : undefined;
  }
}
