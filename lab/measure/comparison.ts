import { ProgramGroup } from './measures.js';
import type { RunMeasures } from './run.js';

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

export type Verdict = 'sooner' | 'later' | 'same' | 'unsure';

export const MARGIN = 0.02;

/**
 * Whether a ratio of times is one that matters: its whole interval must lie on one side of the margin, or inside it.
 * Without an interval the ratio alone decides, which is right only where chance plays no part.
 * @param margin share of the first time; a difference within it counts as none
 */
export function verdictOf({ ratio, low, high }: Ratio, margin: number): Verdict | undefined {
  if (ratio === null) return undefined;
  const [least, most] = [low ?? ratio, high ?? ratio];
  const [sooner, later] = [1 - margin, 1 / (1 - margin)];
  if (most < sooner) return 'sooner';
  if (least > later) return 'later';
  return least >= sooner && most <= later ? 'same' : 'unsure';
}

/** Normal quantile of a power of 80 %. */
const POWER = 0.842;
/** Of fewer nobody knows whether more would tell; the last ones decide. */
const PAIRS_FEW = 8;
export const PAIRS_LAST = 16;
/** The most to speak of. Runs of a load test last: these are fewer, and the first that are not few decide. */
const PAIRS_MAX = 64;

/**
 * About how many pairs would tell an unsure ratio: the least n with (t + z) s / sqrt(n) at most d, the sample size of
 * the NIST/SEMATECH e-Handbook, 7.2.2.2. d is from the ratio's logarithm to the margin's, t Student's quantile for n
 * pairs, z that of the power, and s the deviation, from the present half-width, which is t s / sqrt(pairs). Undefined
 * without an interval, for a ratio within the margin (there may be nothing to tell), and where it is above the most.
 */
function pairsToTell({ ratio, high, pairs }: Ratio, margin: number, most: number): number | undefined {
  if (ratio === null || high === null) return undefined;
  const distance = Math.abs(Math.log(ratio)) + Math.log(1 - margin);
  const deviation = (Math.log(high / ratio) * Math.sqrt(pairs)) / studentQuantile(pairs - 1);
  for (let count = pairs + 1; distance > 0 && count <= most; count += 1)
    if (((studentQuantile(count - 1) + POWER) * deviation) / Math.sqrt(count) <= distance) return count;
  return undefined;
}

/** An interval whose ends are so many times apart holds differences that matter. */
const FAR_APART = 1.5;
/** Margins within which an interval is told as it is: a difference in it hardly matters. */
const NARROW = 2.5;

/**
 * How many repetitions to run for an unsure ratio, and that in words; none where more would hardly tell, and from 16
 * seeds or 8 runs on, which decide: one advice must not lead to another. Whether a gain may be hidden.
 */
export function moreOf(
  ratio: Ratio,
  margin: number,
  repeated: string,
): { count?: number; text: string; isOpen: boolean } {
  if ((ratio.low ?? 0) >= 1 - margin) return { text: 'not faster', isOpen: false };
  const [last, most] = repeated === 'runs' ? [PAIRS_FEW, PAIRS_LAST] : [PAIRS_LAST, PAIRS_MAX];
  const enough = ratio.pairs >= last ? undefined : pairsToTell(ratio, margin, most);
  if (enough !== undefined) return { count: enough, text: `about ${enough} ${repeated} would tell`, isOpen: true };
  if (ratio.low !== null && ratio.high !== null && verdictOf(ratio, NARROW * margin) === 'same') {
    const percent = Math.ceil(100 * Math.max(1 - ratio.low, ratio.high - 1));
    return { text: `no difference above ${percent} %`, isOpen: false };
  }
  if (ratio.pairs < PAIRS_FEW) return { count: last, text: `too few ${repeated} to tell`, isOpen: true };
  const isWide = ratio.low === null || ratio.high === null || ratio.high > FAR_APART * ratio.low;
  const isNear = Math.abs(Math.log(ratio.ratio ?? NaN)) <= -Math.log(1 - margin);
  const isSome = (ratio.low ?? 0) > 1 || (ratio.high ?? Infinity) < 1;
  if (isWide || !(isNear || isSome)) return { text: 'too uneven to tell', isOpen: true };
  return { text: 'treat them as equal', isOpen: false };
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

/**
 * Restricts two runs of the same programs to the programs that both completed: program times, times a token and
 * slowdowns. Otherwise a run could look better by losing work. Runs that lost none, or that are too large to match
 * programs, are returned unchanged.
 */
export function overSamePrograms<R extends RunMeasures>(first: R, other: R): readonly [R, R] {
  const [one, two] = [first.completions, other.completions];
  if (one === undefined || two === undefined || (first.failed === 0 && other.failed === 0)) return [first, other];
  const both = [...one.keys()].filter((program) => two.has(program));
  return [restricted(first, one, both), restricted(other, two, both)];
}

/** A figure of both; none where one has none. */
export function pairOf<R extends RunMeasures>(first: R, other: R, of: (run: R) => number | null): Pair[] {
  const [one, two] = [of(first), of(other)];
  return one === null || two === null ? [] : [[one, two]];
}

function restricted<R extends RunMeasures>(
  run: R,
  completions: NonNullable<RunMeasures['completions']>,
  programs: readonly string[],
): R {
  const group = new ProgramGroup(0);
  for (const program of programs) {
    const figures = completions.get(program);
    if (figures !== undefined) group.add(figures);
  }
  const { seconds_per_token, program_seconds, slowdown } = group.measures();
  return { ...run, seconds_per_token, program_seconds, slowdown };
}
