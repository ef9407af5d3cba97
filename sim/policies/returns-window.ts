/** Samples needed for a first answer, and the most that it keeps. */
const SIZE = 100;

/** Learns how long to wait for an idle program, from the last hundred returns. */
export class ReturnsWindow {
  readonly #intervals: number[] = [];
  #next = 0;

  learn(intervalMs: number): void {
    this.#intervals[this.#next] = intervalMs;
    this.#next = (this.#next + 1) % SIZE;
  }

  /**
   * The time, at most `mostMs`, that maximises (share returned by then x saving of a return) - mean time held.
   * @param savedMs saving of a return, in time held
   */
  bestWaitMs(savedMs: number, mostMs: number): number {
    if (this.#intervals.length < SIZE) return 0;
    const sorted = Float64Array.from(this.#intervals).sort();
    let best = 0;
    let bestGain = 0;
    let passed = 0;
    for (let index = 0; index < SIZE; index += 1) {
      const waitMs = sorted[index] ?? Infinity;
      if (waitMs > mostMs) break;
      passed += waitMs;
      const gain = (index + 1) * savedMs - passed - (SIZE - 1 - index) * waitMs;
      if (gain > bestGain) [best, bestGain] = [waitMs, gain];
    }
    return best;
  }
}
