import { Dice } from '../../workloads/index.js';

/** Number of values kept whole; beyond it, a sample represents all. */
const KEPT_MAX = 100_000;

/** A uniform sample of a stream; all items while they are few. O(1) an item. */
export class Reservoir<T> {
  readonly kept: T[] = [];
  readonly #dice: Dice;
  count = 0;

  constructor(
    seed: number,
    private readonly keptMax = KEPT_MAX,
  ) {
    this.#dice = new Dice(seed);
  }

  /** Vitter's algorithm R: the n-th item replaces a kept one with probability kept / n. */
  add(item: T): void {
    this.count += 1;
    if (this.kept.length < this.keptMax) {
      this.kept.push(item);
      return;
    }
    const place = Math.floor(this.#dice.share() * this.count);
    if (place < this.keptMax) this.kept[place] = item;
  }
}

/** Summary of many values, as in a table; null without values. */
export interface Distribution {
  /** Number of values. Of fewer than 100, the p99 is the maximum; of fewer than 20, the p95 too. */
  readonly count: number;
  readonly mean: number | null;
  readonly p50: number | null;
  readonly p95: number | null;
  readonly p99: number | null;
  readonly max: number | null;
}

/** Of waits: whether at least 95 of 100 are none, so that scheduling can change little. */
export const hasFewWaits = ({ p95 }: Distribution): boolean => p95 === 0;

export type Statistic = Exclude<keyof Distribution, 'count'>;

/** Statistics that tell something of each distribution: what would be called the p99 of few values is their maximum. */
export function statisticsOf(distributions: readonly Distribution[]): readonly Statistic[] {
  const isFew = distributions.some(({ count }) => count > 0 && count < 20);
  return ['mean', 'p50', ...(isFew ? [] : (['p95'] as const)), tailOf(distributions)];
}

/** Values of which the p99 is not their maximum, which chance decides. */
const P99_MIN = 100;

export const tailOf = (distributions: readonly Distribution[]): 'p99' | 'max' =>
  distributions.some(({ count }) => count > 0 && count < P99_MIN) ? 'max' : 'p99';

/** The p99; null of values too few for it. */
export const p99Of = ({ count, p99 }: Distribution): number | null => (count < P99_MIN ? null : p99);

/**
 * Values of one measure in flat memory. Their number, mean and greatest are exact; percentiles are exact up to
 * 100,000 values. Beyond, they are those of a uniform sample of that size, drawn from the seed.
 */
export class Sample {
  readonly #values: Reservoir<number>;
  #sum = 0;
  #squares = 0;
  #max = -Infinity;
  #sorted: Float64Array | undefined;

  constructor(seed: number, keptMax = KEPT_MAX) {
    this.#values = new Reservoir(seed, keptMax);
  }

  /** @throws RangeError for NaN and infinities, which would silently spoil every figure */
  add(value: number): void {
    if (!Number.isFinite(value)) throw new RangeError(`cannot measure ${value}`);
    this.#values.add(value);
    this.#sum += value;
    this.#squares += value * value;
    this.#max = Math.max(this.#max, value);
    this.#sorted = undefined;
  }

  get count(): number {
    return this.#values.count;
  }

  /** NaN without values, like all below. */
  get mean(): number {
    return this.#sum / this.count;
  }

  get max(): number {
    return this.count === 0 ? NaN : this.#max;
  }

  /**
   * The nearest-rank percentile: the least value such that this share of all values is not above it. `share` is from 0
   * to 1.
   */
  percentile(share: number): number {
    this.#sorted ??= Float64Array.from(this.#values.kept).sort();
    return nearestRank(this.#sorted, share);
  }

  /** Jain's fairness index of the values: 1 when all are equal, 1 / count when one has everything. */
  get fairness(): number {
    return this.#sum ** 2 / (this.count * this.#squares);
  }

  distribution(): Distribution {
    const told = (value: number) => (Number.isNaN(value) ? null : value);
    return {
      count: this.count,
      mean: told(this.mean),
      p50: told(this.percentile(0.5)),
      p95: told(this.percentile(0.95)),
      p99: told(this.percentile(0.99)),
      max: told(this.max),
    };
  }
}

/** For ascending values: the least one such that this share of all is not above it. NaN without values. */
function nearestRank(sorted: ArrayLike<number>, share: number): number {
  // 0.95 x 100 is slightly above 95: without the allowance the rank would be one too high.
  const rank = Math.ceil(share * sorted.length - 1e-9);
  return sorted[Math.max(0, rank - 1)] ?? NaN;
}
