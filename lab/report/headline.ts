import { MARGIN, moreOf, type Ratio, verdictOf } from '../measure/comparison.js';
import { number, ratio } from '../../text/index.js';
import { ratioText, spanText } from './grid.js';

/** Ratios of times: below 1 is sooner. */
export interface KindTimes {
  readonly programs: Readonly<Partial<Record<'mean' | 'p99', Ratio>>>;
  readonly firstToken: Readonly<Partial<Record<'p50' | 'p99', Ratio>>>;
}

/** Times under one setting or target against those under the first. */
export interface Times extends KindTimes {
  readonly programs: Readonly<Record<'mean' | 'p50' | 'p95' | 'p99', Ratio>>;
  readonly firstToken: Readonly<Record<'p50' | 'p99', Ratio>>;
  /** Time over the tokens of a program's answers, where it is known. */
  readonly perToken?: Ratio;
  /** The p99 of the time to first token, before and after. */
  readonly firstTokenP99Seconds: readonly [number | null, number | null];
  /** Completed in the smaller run: of fewer than 100 the p99 is the slowest. */
  readonly counts: { readonly programs: number; readonly calls: number };
  /** Those that both sustain, such as `3 of 8 seeds`, if they are of these repetitions alone. */
  readonly of?: string | undefined;
  /** The same in those, if others overload one of both, more than chance explains. */
  readonly calm?: Omit<Times, 'calm'> | undefined;
  /** The same of each kind of program; a p99 of too few is unknown. */
  readonly kinds?: Readonly<Record<string, KindTimes>>;
}

/** All repetitions, or those that both sustain, if a gain is certain in these: it and its price are of the same ones. */
export const toldOf = (times: Times, margin: number): Times =>
  times.calm !== undefined && verdictOf(times.calm.programs.mean, margin) === 'sooner' ? times.calm : times;

/** Figures that may be worse, in the order of sentences: of times the mean program’s, others, first tokens’, one kind’s. */
export const MEASURES = ['failed', 'mean', 'program', 'first token', 'kind'] as const;

/** A figure that is worse: a time by so many times, a count by so many. */
export interface Cost {
  readonly measure: (typeof MEASURES)[number];
  readonly factor: number;
  readonly text: string;
  /** The repetitions that it is of, as in `Times`. */
  readonly of?: string | undefined;
  /** The name of the kind that it is of. */
  readonly kind?: string;
}

/** The facts of the sentence that opens a report. */
export interface Change extends Times {
  readonly name: string;
  readonly against: string;
  /** Share of prompt tokens found in a cache, before and after. */
  readonly cached: readonly [number | null, number | null];
  /** Programs that failed, before and after: of simulations the mean over seeds. */
  readonly failed: readonly [number, number];
  /** The origin of a ratio without an interval, such as `one seed`; undefined where chance plays no part. */
  readonly single: string | undefined;
}

/**
 * The change in a line of plain words, the worse beside the better:
 *
 *     plas: programs 2.5x faster than pass-through (0.40, 0.37–0.43); first token p50 2.1x faster, p99 5.6x slower (3.2 -> 18 s); prompts cached 17 -> 83 %
 */
export function headline(all: Change, margin = MARGIN): string {
  const change = { ...all, calm: undefined, ...toldOf(all, margin) };
  const { name, failed, cached } = change;
  const parts = [
    programsText(change, margin),
    firstTokenText(change, margin, { words: isSingle(change) ? ({ ratio: value }) => ratio(value) : undefined }),
  ];
  const [before, after] = cached.map((share) => (share === null ? undefined : (100 * share).toFixed(0)));
  if (before !== undefined && after !== undefined && before !== after)
    parts.push(`prompts cached ${before} -> ${after} %`);
  const lost = failed.some((count) => count > 0) ? [failedText(failed)] : [];
  // Those that fail early make the others faster.
  const told = failsMore(failed) ? [...lost, ...parts] : [...parts, ...lost];
  return `${name}: ${told.filter((part) => part !== '').join('; ')}.`;
}

type Failed = Change['failed'];
export const failedText = (failed: Failed): string => `failed programs ${failed.map(number).join(' -> ')}`;
/** Whether more programs fail, by one at least. */
export const failsMore = ([before, after]: Failed): boolean => Math.round(after) > Math.round(before);

/** Whether its ratios are of one repetition, so that any of them may be chance. */
const isSingle = ({ single, programs: { mean } }: Change): boolean => single !== undefined && mean.low === null;

function programsText(change: Change, margin: number): string {
  const { against, programs, single, counts } = change;
  const { mean, p50, p99 } = programs;
  const verdict = verdictOf(mean, margin);
  if (mean.ratio === null || verdict === undefined)
    return `no comparison with ${against}: no program completed in both`;
  const chance = isSingle(change) ? `, ${single}: may be chance` : '';
  const more = moreOf(mean, margin, single === 'one seed' ? 'seeds' : 'runs').text;
  // An interval without a gain is told as that.
  const isUnsure = verdict === 'unsure' && (mean.low ?? 0) < 1 - margin;
  const figures = `(${figuresOf(mean)}${chance}${isUnsure ? `; ${more}` : ''})`;
  const difference =
    verdict === 'same'
      ? ` within ${number(100 * margin)} % of`
      : isUnsure
        ? ': no certain difference from'
        : ` ${verdict === 'unsure' ? more : changeText(mean.ratio)} than`;
  // Short programs can gain much that the mean, of a few long ones, does not show.
  const isMiddle = verdict !== 'sooner' && isMuchSooner(p50, margin);
  // A tail that is not told goes the way of the mean; of few programs it is chance.
  const tail = verdictOf(p99, margin);
  const isTold = verdict !== 'later' && p99.low !== null && counts.programs >= TAIL_MIN;
  const isOther = isTold && (verdict === 'sooner' ? tail === 'unsure' || tail === 'same' : tail === 'sooner');
  // Of one repetition, figures alone.
  const others = isSingle(change)
    ? tailOf(change)
    : [
        ...(isMiddle ? [`p50 ${outcomeOf(p50, margin)}`] : []),
        ...slowerOf(change, margin).map(({ text }) => text),
        ...(isOther ? [`p99 ${outcomeOf(p99, margin)}`] : []),
      ];
  return [`programs${difference} ${against} ${figures}${calmText(change)}`, ...others].join(', ');
}

/** Of fewer than 100, the p99 is the slowest. */
const TAIL_MIN = 100;
export const tailName = (count: number): string => (count < TAIL_MIN ? 'slowest' : 'p99');

const tailOf = ({ programs: { p99 }, counts }: Times): string[] =>
  p99.ratio === null ? [] : [`${tailName(counts.programs)} ${ratio(p99.ratio)}`];

/** The times of programs other than their mean that are certainly worse, the worst first; where it is, too, those above its interval. */
function slowerOf({ programs: { mean, p50, p95, p99 }, perToken, counts }: Times, margin: number) {
  const least = verdictOf(mean, margin) === 'later' ? (mean.high ?? mean.ratio ?? 0) : 0;
  const tail = verdictOf(p99, margin) === 'later' ? { [tailName(counts.programs)]: p99 } : { p95 };
  const all = Object.entries({ p50, ...tail, ...(perToken && { 'ms/token': perToken }) });
  const later = all.filter(([, value]) => verdictOf(value, margin) === 'later' && (value.ratio ?? 0) > least);
  return later
    .map(([name, value]) => ({ factor: value.ratio ?? 0, text: `${name} ${outcomeOf(value, margin)}` }))
    .sort((a, b) => b.factor - a.factor);
}

/** Program times in the repetitions that both sustain. */
const calmText = ({ calm, of }: Times): string =>
  calm === undefined ? inCalm({ of }) : `, ${ratioText(calm.programs.mean)}${inCalm(calm)}`;

export const inCalm = ({ of }: Pick<Times, 'of'>): string =>
  of === undefined ? '' : ` in the ${of} that both sustain`;

/** The times that are certainly worse, in the words of the headline: of each measure the worst. */
export function worseOf(times: Times, margin: number): Cost[] {
  const [program] = slowerOf(times, margin);
  const { p50, p99 } = times.firstToken;
  const later = [p99, p50].filter((value) => verdictOf(value, margin) === 'later');
  const [first] = later.sort((a, b) => (b.ratio ?? 0) - (a.ratio ?? 0));
  const text = firstTokenText(times, margin, { isTold: (value) => value === first });
  return [
    ...(program === undefined
      ? []
      : [{ measure: 'program' as const, factor: program.factor, text: `program ${program.text}` }]),
    ...(first === undefined ? [] : [{ measure: 'first token' as const, factor: first.ratio ?? 0, text }]),
  ];
}

export function firstTokenText(
  times: Times,
  margin: number,
  how: { isTold?: (value: Ratio) => boolean; words?: ((value: Ratio) => string) | undefined },
): string {
  const { isTold = () => true, words = (value: Ratio) => outcomeOf(value, margin) } = how;
  const { p50, p99 } = times.firstToken;
  if (p50.ratio === null) return '';
  if (how.isTold === undefined && [p50, p99].every((each) => verdictOf(each, margin) === 'same'))
    return 'first token the same';
  const [before, after] = times.firstTokenP99Seconds;
  const outcome = words(p99);
  const seconds = before === null || after === null ? '' : `${number(before)} -> ${number(after)} s`;
  const later =
    seconds === ''
      ? outcome
      : outcome.endsWith(')')
        ? `${outcome.slice(0, -1)}; ${seconds})`
        : `${outcome} (${seconds})`;
  const told = [
    ...(isTold(p50) ? [`p50 ${words(p50)}`] : []),
    ...(isTold(p99) ? [`${tailName(times.counts.calls)} ${later}`] : []),
  ];
  return told.length === 0 ? '' : `first token ${told.join(', ')}`;
}

/** `2.1x faster`, `the same`: a ratio of times in the words of a sentence. */
export function outcomeOf(value: Ratio, margin: number): string {
  const verdict = verdictOf(value, margin);
  if (verdict === undefined) return 'unknown';
  if (verdict === 'same') return 'the same';
  return verdict === 'unsure' ? `no certain difference (${figuresOf(value)})` : factorText(value);
}

/** An interval whose ends are so many times apart: the truth may be half of a factor, or twice as much. */
const FAR_APART = 4;

/** The change, with its interval where the factor alone would promise too much. */
export function factorText(value: Ratio): string {
  const isFar = (value.high ?? 0) > FAR_APART * (value.low ?? 0);
  return `${changeText(value.ratio ?? 1)}${isFar ? ` (${figuresOf(value)})` : ''}`;
}

export function changeText(ratioOfTimes: number): string {
  const [times, part] = ratioOfTimes < 1 ? [1 / ratioOfTimes, 1 - ratioOfTimes] : [ratioOfTimes, ratioOfTimes - 1];
  return `${times < FACTOR_MIN ? share(part) : factor(times)} ${ratioOfTimes < 1 ? 'faster' : 'slower'}`;
}

/** Smaller changes read better as percentages: of the time before. */
const FACTOR_MIN = 1.5;
export const isMuchSooner = (value: Ratio, margin: number): boolean =>
  verdictOf(value, margin) === 'sooner' && (value.ratio ?? 1) < 1 / FACTOR_MIN;
const figuresOf = (value: Ratio): string => ratio(value.ratio) + (value.low === null ? '' : `, ${spanText(value)}`);
const factor = (value: number): string => `${value < 10 ? value.toFixed(1) : number(value)}x`;
/** Whole percents, unless they would claim that nothing or everything changed. */
const share = (value: number): string =>
  `${value > 0.01 && value < 0.99 ? (100 * value).toFixed(0) : number(100 * value)} %`;
