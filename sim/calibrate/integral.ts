/** The integral of a rate over time, put together of spans of constant rate. */
export class Integral {
  readonly #changes: { readonly atMs: number; readonly rate: number }[] = [];
  #times = new Float64Array(0);
  /** Up to each time, and the rate from then on. */
  #sums = new Float64Array(0);
  #rates = new Float64Array(0);

  /** Adds an amount, evenly over a span. */
  add(fromMs: number, toMs: number, amount: number): void {
    // Nothing is seen in no time; its part of a longer span is kept.
    const rate = amount / Math.max(toMs - fromMs, MS_MIN);
    this.#changes.push({ atMs: fromMs, rate }, { atMs: Math.max(toMs, fromMs + MS_MIN), rate: -rate });
  }

  /** All spans are there. */
  close(): void {
    const changes = this.#changes.sort((a, b) => a.atMs - b.atMs);
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
    let low = 0;
    let high = this.#times.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#times[middle] ?? Infinity) <= ms) low = middle + 1;
      else high = middle;
    }
    const at = low - 1;
    return at < 0 ? 0 : (this.#sums[at] ?? 0) + (this.#rates[at] ?? 0) * (ms - (this.#times[at] ?? 0));
  }
}

const MS_MIN = 1e-3;
