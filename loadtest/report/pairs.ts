import { bootstrapRatio, nearestRank, type Pair, type Ratio, Reservoir } from '../../lab/index.js';
import type { LoadProgramRecord } from '../records.js';

/** Comparison of the second target's program times with the first's; ratios are B over A. */
export interface AbReport {
  readonly pairs: number;
  /** Programs that did not complete at both targets: they are in none of the ratios. */
  readonly left_out: number;
  readonly program_seconds: Readonly<Record<Statistic, Ratio>>;
  readonly difference: 'B sooner' | 'A sooner' | 'none shown';
  /** The same as a sentence. */
  readonly outcome: string;
}

type Statistic = keyof typeof STATISTICS;

const STATISTICS = {
  mean: (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length,
  p50: percentile(0.5),
  p95: percentile(0.95),
  p99: percentile(0.99),
};
/** Fewest pairs for a bootstrap; with fewer its interval is too narrow. */
const PAIRS_MIN = 10;
/** Pairs kept for a thousand resamples: more would delay the user for an interval that is narrow already. */
const PAIRS_KEPT = 2_000;
/** Upper bound on programs whose twin has not ended. Twins run side by side: only a stalled target leaves so many. */
const WAITING_MAX = 100_000;

/** Programs given to both targets, paired by their index. */
export class Pairs {
  /** Seconds at the target that ended first; NaN for a failed one. */
  readonly #waiting = new Map<number, { readonly target: number; readonly seconds: number }>();
  readonly #pairs: Reservoir<Pair>;
  #leftOut = 0;

  constructor(private readonly seed: number) {
    this.#pairs = new Reservoir(seed, PAIRS_KEPT);
  }

  programEnded({ index, target, arrivedMs, endedMs, outcome }: LoadProgramRecord): void {
    const seconds = outcome === 'completed' ? (endedMs - arrivedMs) / 1000 : NaN;
    const twin = this.#waiting.get(index);
    if (twin === undefined || twin.target === target) {
      this.#waiting.set(index, { target, seconds });
      this.#drop();
      return;
    }
    this.#waiting.delete(index);
    if (Number.isNaN(seconds + twin.seconds)) this.#leftOut += 1;
    else this.#pairs.add(target === 1 ? [twin.seconds, seconds] : [seconds, twin.seconds]);
  }

  /** Drops the longest-waiting program; its twin will then wait in its place. */
  #drop(): void {
    if (this.#waiting.size <= WAITING_MAX) return;
    for (const index of this.#waiting.keys()) {
      this.#waiting.delete(index);
      this.#leftOut += 1;
      return;
    }
  }

  report(failed: readonly number[]): AbReport {
    const pairs = this.#pairs.kept;
    const ratioOf = (statistic: (values: readonly number[]) => number): Ratio => {
      const ratio = bootstrapRatio(pairs, statistic, { seed: this.seed });
      return { ...ratio, ...(pairs.length < PAIRS_MIN ? { low: null, high: null } : {}), pairs: this.#pairs.count };
    };
    const program_seconds = {
      mean: ratioOf(STATISTICS.mean),
      p50: ratioOf(STATISTICS.p50),
      p95: ratioOf(STATISTICS.p95),
      p99: ratioOf(STATISTICS.p99),
    };
    const difference = differenceOf(program_seconds.mean);
    return {
      pairs: this.#pairs.count,
      left_out: this.#leftOut + this.#waiting.size,
      program_seconds,
      difference,
      outcome: sentence(program_seconds.mean, difference) + caveat(failed),
    };
  }
}

function differenceOf({ low, high }: Ratio): AbReport['difference'] {
  if (high !== null && high < 1) return 'B sooner';
  return low !== null && low > 1 ? 'A sooner' : 'none shown';
}

/** Speedups are phrased above 1: half the time is 2x sooner. */
function sentence({ ratio, low, high, pairs }: Ratio, difference: AbReport['difference']): string {
  if (ratio === null) return 'No comparison: no program completed at both targets.';
  const over = `${pairs} pair${pairs === 1 ? '' : 's'}`;
  if (low === null || high === null)
    return `No difference can be shown with ${over}: B took ${times(ratio)} the time of A, and chance alone may do that.`;
  const [from, to] = difference === 'B sooner' ? [1 / high, 1 / low] : [low, high];
  const interval = `(95 % interval ${from.toPrecision(3)} to ${to.toPrecision(3)}, ${over})`;
  switch (difference) {
    case 'B sooner':
      return `B finished programs ${times(1 / ratio)} sooner than A ${interval}.`;
    case 'A sooner':
      return `A finished programs ${times(ratio)} sooner than B ${interval}.`;
    case 'none shown':
      return `No difference shown: B took ${times(ratio)} the time of A ${interval}.`;
  }
}

/** A target that fails its slow programs looks fast, so the outcome mentions failures. */
const caveat = (failed: readonly number[]): string =>
  failed.some((count) => count > 0) ? ` Programs failed at A: ${failed[0] ?? 0}, at B: ${failed[1] ?? 0}; they are not compared.` : ''; // prettier-ignore

const times = (ratio: number): string => `${ratio.toPrecision(ratio < 1 ? 2 : 3)}x`;

function percentile(share: number) {
  return (values: readonly number[]): number => nearestRank(Float64Array.from(values).sort(), share);
}
