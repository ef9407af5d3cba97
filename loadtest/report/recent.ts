import { nearestRank } from '../../lab/index.js';

/** Number of values kept: enough for a 99th percentile, and cheap to sort a few times a second. */
const KEPT = 1_000;
const RATE_MS = 10_000;

/** The newest values of a measure, for live figures. */
export class Recent {
  readonly #values = new Float64Array(KEPT);
  readonly #times = new Float64Array(KEPT);
  #count = 0;

  add(atMs: number, value: number): void {
    this.#values[this.#count % KEPT] = value;
    this.#times[this.#count % KEPT] = atMs;
    this.#count += 1;
  }

  /** NaN without values. */
  percentiles(shares: readonly number[]): number[] {
    const sorted = this.#values.slice(0, Math.min(this.#count, KEPT)).sort();
    return shares.map((share) => nearestRank(sorted, share));
  }

  /** Values a second over the last ten seconds, or over the time that the kept values cover if that is shorter. */
  rate(nowMs: number): number {
    const times = this.#times.slice(0, Math.min(this.#count, KEPT));
    const fromMs = Math.max(0, nowMs - RATE_MS);
    const oldestMs = this.#count > KEPT ? Math.min(...times) : 0;
    const spanMs = nowMs - Math.max(fromMs, oldestMs);
    const count = times.filter((at) => at > fromMs).length;
    return spanMs > 0 ? (1000 * count) / spanMs : 0;
  }
}
