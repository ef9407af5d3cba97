import { normalAbove, normalTail } from './normal.js';

/** Latencies remembered, the last ones. */
const RECENT = 128;
/** Latencies needed before they count. Until then: of the gaps in a public trace 86 % are below 1 s, 95 % below 10 s. */
const SEEN_MIN = 100;
const COLD_LOG_MEDIAN = Math.log(2_000);
const COLD_LOG_SPREAD = (Math.log(10_000) - COLD_LOG_MEDIAN) / normalAbove(0.05);
/** Remembered latencies needed above the time already waited; with fewer, the fitted distribution answers. */
const ABOVE_MIN = 8;
/** Latencies that weigh as much as a declared one. */
const DECLARED_WEIGHT = 8;
/** Least spread of the fit: a tool that always takes as long still varies by a percent. */
const LOG_SPREAD_MIN = 0.01;

/**
 * How long one tool of one tenant takes, or several tools that an answer asks for at once. Durations are milliseconds.
 *
 * The last latencies answer as they are, as many tools have two or more typical ones. Of times that few of them reached,
 * a log-normal distribution tells the rest.
 */
export class ToolLatency {
  /** The last latencies in order of time, and the same ones by size. */
  readonly #recent: number[] = [];
  readonly #sorted: number[] = [];
  #seen = 0;
  /** Mean and variance of the logarithms, the last `RECENT` weighing most. */
  #logMean = 0;
  #logVariance = 0;

  /** @param name of the tool; '' for an answer without tools */
  constructor(readonly name: string) {}

  /** Whether enough were seen to tell more than any tool's. */
  get isLearnt(): boolean {
    return this.#seen >= SEEN_MIN;
  }

  learn(latencyMs: number): void {
    const ms = Math.max(1, latencyMs);
    const at = this.#seen % RECENT;
    const oldest = this.#recent[at];
    if (oldest !== undefined) this.#sorted.splice(this.#rankOf(oldest), 1);
    this.#recent[at] = ms;
    this.#sorted.splice(this.#rankOf(ms), 0, ms);
    this.#seen += 1;
    const share = 1 / Math.min(this.#seen, RECENT);
    const distance = Math.log(ms) - this.#logMean;
    this.#logMean += share * distance;
    this.#logVariance = (1 - share) * (this.#logVariance + share * distance * distance);
  }

  /** Share of latencies above this time, 0 excluded. */
  tail(waitedMs: number, declaredMs?: number): number {
    const ms = waitedMs / this.#scale(declaredMs);
    const above = this.#above(ms);
    return above >= ABOVE_MIN ? above / this.#sorted.length : this.#fittedTail(ms);
  }

  /**
   * Quantile of a latency of which `waitedMs` have passed already, less these.
   * @param declaredMs the latency as its client declares it
   */
  restMs(quantile: number, waitedMs: number, declaredMs?: number): number {
    const scale = this.#scale(declaredMs);
    const ms = waitedMs / scale;
    const above = this.#above(ms);
    const passed = this.#sorted.length - above;
    const latencyMs =
      above >= ABOVE_MIN
        ? (this.#sorted[passed + Math.min(above - 1, Math.floor(quantile * above))] ?? 0)
        : this.#fitted((1 - quantile) * this.#fittedTail(ms));
    return Math.max(0, latencyMs * scale - waitedMs);
  }

  /** Factor of a declared latency on what was learnt: Tokencake's equation 1, whose alpha falls as latencies are seen. */
  #scale(declaredMs: number | undefined): number {
    if (declaredMs === undefined) return 1;
    const medianMs = this.#fitted(0.5);
    const alpha = DECLARED_WEIGHT / (DECLARED_WEIGHT + this.#seen);
    return (alpha * Math.max(1, declaredMs) + (1 - alpha) * medianMs) / medianMs;
  }

  /** Number of remembered latencies above this one; 0 before they count. */
  #above(ms: number): number {
    return this.isLearnt ? this.#sorted.length - this.#rankOf(ms, true) : 0;
  }

  /** Number of remembered latencies below this one, or not above it. */
  #rankOf(ms: number, orEqual = false): number {
    let [from, to] = [0, this.#sorted.length];
    while (from < to) {
      const middle = (from + to) >>> 1;
      const other = this.#sorted[middle] ?? 0;
      if (other < ms || (orEqual && other === ms)) from = middle + 1;
      else to = middle;
    }
    return from;
  }

  get #logMedian(): number {
    return this.isLearnt ? this.#logMean : COLD_LOG_MEDIAN;
  }

  get #logSpread(): number {
    return this.isLearnt ? Math.max(LOG_SPREAD_MIN, Math.sqrt(this.#logVariance)) : COLD_LOG_SPREAD;
  }

  #fittedTail(ms: number): number {
    return ms <= 0 ? 1 : normalTail((Math.log(ms) - this.#logMedian) / this.#logSpread);
  }

  /** The latency that this share of all exceeds, by the fit. */
  #fitted(share: number): number {
    return Math.exp(this.#logMedian + this.#logSpread * normalAbove(share));
  }
}
