import { Dice } from '../../workloads/index.js';
import { nearestRank } from './sample.js';

/** One item, such as a seed or a program, measured under a first setting and under another. */
export type Pair = readonly [first: number, other: number];

/** Comparison of another setting with the first: below 1 its values are smaller. */
export interface Ratio {
  /** Ratio of the means; null when it would divide by nothing. */
  readonly ratio: number | null;
  /** 95 % confidence interval; null with too few pairs, or with values not above 0. */
  readonly low: number | null;
  readonly high: number | null;
  readonly pairs: number;
}

/**
 * The ratio of the means of paired values with Student's interval around its logarithm: by the delta method. Few pairs
 * (seeds) give an honest wide interval, many (programs) a narrow one. Assumes that pairs are independent.
 */
export function pairedRatio(pairs: readonly Pair[]): Ratio {
  const ratio = ratioOfMeans(pairs);
  const count = pairs.length;
  if (count < 2 || ratio === null || ratio <= 0) return { ratio, low: null, high: null, pairs: count };
  const firstMean = pairs.reduce((sum, [first]) => sum + first, 0) / count;
  const squares = pairs.reduce((sum, [first, other]) => sum + (other - ratio * first) ** 2, 0);
  const deviation = Math.sqrt(squares / (count - 1) / count) / (ratio * firstMean);
  const reach = Math.exp(studentQuantile(count - 1) * deviation);
  return { ratio, low: ratio / reach, high: ratio * reach, pairs: count };
}

/**
 * The ratio of any statistic of paired values, with the percentile interval of its bootstrap: pairs are redrawn with
 * replacement. For many pairs only; with few seeds the interval is too narrow. Costs `rounds` times the statistic.
 */
export function bootstrapRatio(
  pairs: readonly Pair[],
  statistic: (values: readonly number[]) => number,
  { seed, rounds = 1000 }: { readonly seed: number; readonly rounds?: number },
): Ratio {
  const ratioOf = (drawn: readonly Pair[]) => statistic(drawn.map((pair) => pair[1])) / statistic(drawn.map((pair) => pair[0])); // prettier-ignore
  const found = ratioOf(pairs);
  const ratio = Number.isFinite(found) ? found : null;
  if (pairs.length < 2 || ratio === null) return { ratio, low: null, high: null, pairs: pairs.length };
  const dice = new Dice(seed);
  const draw = () => pairs[dice.int(0, pairs.length - 1)] as Pair;
  const ratios = Float64Array.from({ length: rounds }, () => ratioOf(pairs.map(draw)))
    .filter(Number.isFinite)
    .sort();
  return { ratio, low: nearestRank(ratios, 0.025), high: nearestRank(ratios, 0.975), pairs: pairs.length };
}

function ratioOfMeans(pairs: readonly Pair[]): number | null {
  const first = pairs.reduce((sum, pair) => sum + pair[0], 0);
  const other = pairs.reduce((sum, pair) => sum + pair[1], 0);
  return first > 0 ? other / first : null;
}

/** 97.5 % quantiles of Student's t by degrees of freedom, from 1. */
const STUDENT = [
  12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131, 2.12, 2.11,
  2.101, 2.093, 2.086, 2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048, 2.045, 2.042,
];
const NORMAL = 1.96;

function studentQuantile(freedom: number): number {
  // Above the table, the first term of the expansion around the normal quantile is within 0.002.
  return STUDENT[freedom - 1] ?? NORMAL + (NORMAL ** 3 + NORMAL) / (4 * freedom);
}
