/** Least part of the growth in calls that must come back as growth in throughput. */
const GAIN_MIN = 1 / 4;

/** What a completed call tells of its engine. */
export interface Completion {
  readonly dispatchedAtMs: number;
  readonly endedAtMs: number;
  /** What the engine did for it, in output tokens. */
  readonly work: number;
}

/**
 * Whether an engine does more with more calls at once, by what completed calls took: the signal of engines that report
 * no load. By Little's law, of `size` calls in flight that took `elapsed` for their work,
 *
 *     throughput(size) = size x sum(work) / sum(elapsed)
 *
 * A round is half as many completions as there are calls. Of this round and the one before, the larger size is worth it if
 *
 *     throughput(larger) >= throughput(smaller) x (1 + 1/4 x (larger / smaller - 1))
 *
 * and then size grows, else it shrinks: Incremental Steps (Heiss and Wagner, "Adaptive Load Control in Transaction
 * Processing Systems", VLDB 1991). It asks for throughput and not, as TCP Vegas and Netflix's gradient limit do, for the
 * latency of an idle engine: batching makes each token slower long before an engine is full.
 */
export class ThroughputTrend {
  #elapsedMs = 0;
  #work = 0;
  #completions = 0;
  #before: { readonly size: number; readonly throughput: number } | undefined;

  /** Counts a call that ran with `size` in flight. Returns, at the end of a round, where the size should go. */
  completed(size: number, { dispatchedAtMs, endedAtMs, work }: Completion): 'grow' | 'shrink' | undefined {
    this.#elapsedMs += endedAtMs - dispatchedAtMs;
    this.#work += work;
    this.#completions += 1;
    if (this.#completions * 2 < size || this.#elapsedMs === 0) return undefined;
    const now = { size, throughput: (size * this.#work) / this.#elapsedMs };
    const { smaller, larger } = this.#inOrder(now);
    this.#before = now;
    this.#elapsedMs = this.#work = this.#completions = 0;
    const gain = GAIN_MIN * (larger.size / smaller.size - 1);
    return larger.throughput >= smaller.throughput * (1 + gain) ? 'grow' : 'shrink';
  }

  #inOrder(now: { readonly size: number; readonly throughput: number }) {
    const before = this.#before ?? now;
    return before.size > now.size ? { smaller: now, larger: before } : { smaller: before, larger: now };
  }
}
