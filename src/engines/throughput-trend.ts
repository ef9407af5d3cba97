/** Least growth in throughput, as a share of the growth in calls, for which more calls pay. */
const GAIN_MIN = 1 / 4;

export interface Completion {
  readonly dispatchedAtMs: number;
  readonly endedAtMs: number;
  /** The engine's work for it, in output tokens. */
  readonly work: number;
}

/**
 * Tells from completed calls whether more calls at once bring more throughput: the signal for engines without load
 * reports. By Little's law, `size` calls in flight that took `elapsed` for their work give
 *
 *     throughput(size) = size x sum(work) / sum(elapsed)
 *
 * A round is half as many completions as calls in flight. Of this round and the one before, the larger size pays if
 *
 *     throughput(larger) >= throughput(smaller) x (1 + 1/4 x (larger / smaller - 1))
 *
 * Then size grows, else it shrinks: Incremental Steps (Heiss and Wagner, "Adaptive Load Control in Transaction
 * Processing Systems", VLDB 1991). Comparing with an idle engine's latency, as TCP Vegas does, would stop too early:
 * batching slows each token long before an engine is full.
 */
export class ThroughputTrend {
  #elapsedMs = 0;
  #work = 0;
  #completions = 0;
  #before: { readonly size: number; readonly throughput: number } | undefined;

  /** Counts a call that ran with `size` in flight. Returns the direction of the next size at the end of a round. */
  completed(size: number, { dispatchedAtMs, endedAtMs, work }: Completion): 'grow' | 'shrink' | undefined {
    this.#elapsedMs += endedAtMs - dispatchedAtMs;
    this.#work += work;
    this.#completions += 1;
    if (this.#completions * 2 < size || this.#elapsedMs === 0) return undefined;
    const now = { size, throughput: (size * this.#work) / this.#elapsedMs };
    const before = this.#before ?? now;
    const [smaller, larger] = before.size > size ? [now, before] : [before, now];
    this.#before = now;
    this.#elapsedMs = this.#work = this.#completions = 0;
    const gain = GAIN_MIN * (larger.size / smaller.size - 1);
    return larger.throughput >= smaller.throughput * (1 + gain) ? 'grow' : 'shrink';
  }
}
