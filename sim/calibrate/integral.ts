/** An amount that came evenly over a span of time. */
export interface Spread {
  readonly fromMs: number;
  readonly toMs: number;
  readonly amount: number;
}

/** Least length of a span: nothing is seen in no time, but its part of a longer span counts. */
const MS_MIN = 1e-3;

/** The amount of all spans together, between any two times. */
export class Integral {
  readonly #times: Float64Array;
  /** Up to each time, and the rate from then on. */
  readonly #sums: Float64Array;
  readonly #rates: Float64Array;

  constructor(spreads: readonly Spread[]) {
    const changes = spreads.flatMap(({ fromMs, toMs, amount }) => {
      const endMs = Math.max(toMs, fromMs + MS_MIN);
      const rate = amount / (endMs - fromMs);
      return [
        { atMs: fromMs, rate },
        { atMs: endMs, rate: -rate },
      ];
    });
    changes.sort((a, b) => a.atMs - b.atMs);
    this.#times = Float64Array.from(changes, ({ atMs }) => atMs);
    this.#sums = new Float64Array(changes.length);
    this.#rates = new Float64Array(changes.length);
    let [sum, rate, beforeMs] = [0, 0, changes[0]?.atMs ?? 0];
    changes.forEach((change, at) => {
      sum += rate * (change.atMs - beforeMs);
      rate += change.rate;
      beforeMs = change.atMs;
      this.#sums[at] = sum;
      this.#rates[at] = rate;
    });
  }

  between(fromMs: number, toMs: number): number {
    return this.#until(toMs) - this.#until(fromMs);
  }

  #until(ms: number): number {
    let [low, high] = [0, this.#times.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#times[middle] ?? Infinity) <= ms) low = middle + 1;
      else high = middle;
    }
    const at = low - 1;
    return at < 0 ? 0 : (this.#sums[at] ?? 0) + (this.#rates[at] ?? 0) * (ms - (this.#times[at] ?? 0));
  }
}
