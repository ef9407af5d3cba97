import { number } from '../../text/index.js';
import { moreOf, type Ratio, verdictOf } from '../measure/comparison.js';
import {
  changeText,
  type Cost,
  failedText,
  failsMore,
  firstTokenText,
  inCalm,
  isMuchSooner,
  outcomeOf,
  type Times,
  toldOf,
  worseOf,
} from './headline.js';

/** A setting or target that was tried in one place, such as at one rate. */
export interface Tried {
  readonly name: string;
  /** Against those of the first one there. */
  readonly times: Times;
  /** Whether it is not compared, as both are overloaded; whether too many programs fail to show its times; whether it cannot be chosen. */
  readonly isOut?: boolean;
  readonly isLost?: boolean;
  readonly isForeign?: boolean;
  /** Whether fewer of its repetitions were left out, as they are overloaded, than of the first's: these may hide a gain. */
  readonly isSteadier?: boolean;
  /** Against the first, if it is not that: more than chance explains. */
  readonly isOverloaded: boolean;
  readonly failed: number;
}

/** One of them against the first, in a few words. */
export interface PlaceRow {
  /** Its place in the list. */
  readonly at: number;
  /** Such as `2.1x faster`. */
  readonly outcome: string;
  /** Undefined: they are not compared. */
  readonly times?: Times | undefined;
  /** Of these those that sentences are of. */
  readonly told: Times;
  /** The figures that are worse. */
  readonly price: readonly Cost[];
  /** Whether it is overloaded where the first is not, or they are not compared: its price is none to choose by. */
  readonly isOut: boolean;
}

export interface PlaceVerdict {
  /** Such as `At 0.2 a second`. */
  readonly place: string;
  /** All but the first. */
  readonly rows: readonly PlaceRow[];
  /** Places in the list of those under which programs are certainly faster than under the first, the fastest first. */
  readonly better: readonly number[];
  /** Those of them whose gain is only in repetitions that overload the first. */
  readonly bursts?: readonly number[];
  /** Where nothing is better: one that is certainly faster, but too little for its price, with more failures, or only to the first token. */
  readonly gain?: string | undefined;
  /** Those that are certainly slower, or overloaded where the first is not: the slowest first. */
  readonly losses: readonly {
    readonly at: number;
    readonly name: string;
    readonly factor: number;
    readonly text: string;
  }[];
  /** Whether nothing is better for certain, but something may be; and how many repetitions would tell, if any number would. */
  readonly isOpen: boolean;
  readonly enough?: number | undefined;
}

export const BOTH_OVERLOADED = 'both overloaded';

interface Terms {
  readonly margin: number;
  /** Name of the repetitions, such as `seeds`: with too few of them a ratio is unsure. */
  readonly repeated: string;
  /** Of how many a mean number of failed programs is told; absent: their sum is. */
  readonly repetitions?: number;
  /** Whether a ratio without an interval is sure, because chance plays no part. */
  readonly isExact: boolean;
}

/** @param all the first is the one that the others are compared with */
export function placeVerdict(place: string, all: readonly Tried[], terms: Terms): PlaceVerdict {
  const { margin, repeated } = terms;
  const [first] = all;
  const compared = comparedOf(all, terms);
  const possible = compared.filter((each) => !each.isOverloaded && each.isForeign !== true);
  const open = possible.filter((each) => !each.isFailing);
  const sooner = open.filter(({ verdict }) => verdict === 'sooner').sort((a, b) => timeOf(a) - timeOf(b));
  const worthy = sooner.filter((each) => each.price.length === 0 || timeOf(each) < SLIGHT);
  // Others within the interval of the fastest may be as fast: of them, the one under which fewest programs fail.
  const within = worthy[0]?.ratio.high ?? worthy[0]?.ratio.ratio ?? 0;
  const alike = worthy.filter((each) => timeOf(each) <= within).sort((a, b) => a.failed - b.failed);
  const better = [...alike, ...worthy.filter((each) => !alike.includes(each))];
  const unsure = open.filter(({ verdict }) => verdict === 'unsure').map(({ ratio }) => moreOf(ratio, margin, repeated));
  const isPart = open.some(({ verdict, isSteadier }) => isSteadier && (verdict === 'same' || verdict === 'unsure'));
  const rowOf = (each: Tried, at: number): PlaceRow => {
    const found = compared.find((other) => other.at === at);
    if (found === undefined) return { at, isOut: true, price: [], told: each.times, outcome: BOTH_OVERLOADED };
    const { isFailing, isOverloaded, price, told, failures } = found;
    const isSlight = sooner.includes(found) && !worthy.includes(found);
    const outcome = isFailing
      ? failingText(failures)
      : wordsOf(found, first, terms) + (isSlight ? ', too little for its price' : '');
    return { at, isOut: isOverloaded && !isFailing, price, told, outcome, times: each.isLost ? undefined : each.times };
  };
  return {
    place,
    rows: all.map(rowOf).slice(1),
    better: better.map(({ at }) => at),
    bursts: better.filter(({ times, told }) => times.calm !== undefined && told === times).map(({ at }) => at),
    isOpen: better.length === 0 && (isPart || unsure.some(({ isOpen }) => isOpen)),
    ...(better.length === 0 && {
      gain: gainOf(sooner, possible, margin),
      enough: Math.max(0, ...unsure.map(({ count = 0 }) => count)) || undefined,
    }),
    losses: lossesOf(compared, margin),
  };
}

const failingText = (failures: readonly number[]): string =>
  `fails more programs: ${failures.map(number).join(' -> ')}`;

type Against = ReturnType<typeof comparedOf>[number];

/** The words of a row. A star marks a factor that grows with the number of programs. */
function wordsOf({ isOverloaded, verdict, ratio, times }: Against, first: Tried | undefined, terms: Terms): string {
  const isGrowing = first?.isOverloaded === true || isOverloaded || times.calm !== undefined;
  const star = isGrowing && times.of === undefined ? '*' : '';
  const is = isOverloaded ? ['overloaded'] : [];
  const words = changeWords(ratio, terms.margin, terms.isExact ? undefined : terms.repeated);
  const text = verdict === 'sooner' || verdict === 'later' ? [...is, `${words}${star}`].join(', ') : (is[0] ?? words);
  return times.of === undefined ? text : `${text} (${times.of})`;
}

/** `2.1x faster`, `no difference`, `about 12 seeds would tell`. @param repeated of what a ratio without an interval is one; undefined: it is sure */
function changeWords(ratio: Ratio, margin: number, repeated?: string): string {
  const verdict = verdictOf(ratio, margin);
  if (ratio.ratio === null) return 'unknown';
  if (verdict === 'unsure') return moreOf(ratio, margin, repeated ?? '').text;
  const words = verdict === 'same' ? 'no difference' : changeText(ratio.ratio);
  return ratio.low === null && repeated !== undefined ? `${words} in one ${repeated.slice(0, -1)}` : words;
}

/** All that can be compared, against the first. */
function comparedOf(all: readonly Tried[], { margin, isExact, repetitions = 1 }: Terms) {
  const [first] = all;
  return all.flatMap((each, at) => {
    const { mean: ratio } = each.times.programs;
    const verdict = ratio.low === null && ratio.ratio !== null && !isExact ? 'unsure' : verdictOf(ratio, margin);
    const before = first?.failed ?? 0;
    const isFailing = isMore(each.failed, before);
    const failures = [before / repetitions, each.failed / repetitions] as const;
    const lost: Cost[] =
      isFailing || failsMore(failures)
        ? [{ measure: 'failed', factor: failures[1] - failures[0], text: failedText(failures) }]
        : [];
    const told = toldOf(each.times, margin);
    // Those that fail are no loss of time, but a gain to the others.
    const price = isFailing ? lost : [...lost, ...priceOf(told, margin)];
    return at === 0 || each.isOut ? [] : [{ ...each, at, ratio, verdict, isFailing, failures, told, price }];
  });
}

function gainOf([slight]: readonly Against[], possible: readonly Against[], margin: number): string | undefined {
  if (slight !== undefined)
    return `${slight.name} is ${outcomeOf(slight.ratio, margin)}, too little for its price: ${slight.price.map(({ text }) => text).join('; ')}`;
  const failing = possible.find(
    ({ isFailing, isLost, verdict }) => isFailing && isLost !== true && verdict === 'sooner',
  );
  if (failing !== undefined)
    return `${failing.name} is ${outcomeOf(failing.ratio, margin)}, but ${failingText(failing.failures)}`;
  const isTold = (value: Ratio) => isMuchSooner(value, margin);
  const same = possible
    .filter(({ isFailing, verdict }) => !isFailing && verdict === 'same')
    .map(({ name, told }) => ({ name, told, first: firstTokenText(told, margin, { isTold }) }));
  return same.flatMap(({ name, told, first }) =>
    first === '' ? [] : [`${name} makes programs no faster, but ${first}${inCalm(told)}`],
  )[0];
}

function lossesOf(compared: readonly Against[], margin: number) {
  const losses = compared.flatMap(({ at, name, verdict, ratio, isOverloaded, isFailing }) => {
    if (isFailing || (verdict !== 'later' && !(isOverloaded && verdict === 'unsure'))) return [];
    const texts = [
      ...(isOverloaded ? ['overloaded'] : []),
      ...(verdict === 'later' ? [`programs ${outcomeOf(ratio, margin)}`] : []),
    ];
    return [{ at, name, text: texts.join(', '), factor: ratio.ratio ?? 1 }];
  });
  return losses.sort((a, b) => b.factor - a.factor);
}

/** Times over the first's from which on a gain is too slight to be paid for. */
const SLIGHT = 0.95;
const timeOf = ({ ratio }: { readonly ratio: Ratio }): number => ratio.ratio ?? Infinity;

/** Whether one count is above another by more than chance explains, of counts without a known spread: one-sided, 95 %. */
export const isMore = (one: number, other: number): boolean => one - other > DEVIATIONS * Math.sqrt(one + other);
const DEVIATIONS = 1.64;

/** Most names in a list; of more the first two are told, and the number of the others. */
const NAMES_MAX = 3;
export const isMany = (list: readonly unknown[]): boolean => list.length > NAMES_MAX;

export const namesOf = (names: readonly string[]): string =>
  new Intl.ListFormat('en-GB').format(isMany(names) ? [...names.slice(0, 2), `${names.length - 2} more`] : names);

/** Times its p99 before from which on a kind of program pays: of few programs less is chance. */
const PAYS = 1.1;

/** Times that are worse, and the kind of program whose slowest wait longer. */
function priceOf(times: Times, margin: number): Cost[] {
  const kinds = Object.entries(times.kinds ?? {}).flatMap(([kind, { programs, firstToken }]) =>
    Object.entries({ p99: programs.p99, 'first token p99': firstToken.p99 }).flatMap(([name, value]): Cost[] => {
      const factor = value?.ratio ?? 0;
      if (value === undefined || factor <= PAYS || verdictOf(value, margin) !== 'later') return [];
      return [{ measure: 'kind', kind, factor, text: `${kind} pays: ${name} ${changeText(factor)}` }];
    }),
  );
  const [most] = kinds.sort((a, b) => b.factor - a.factor);
  return [...worseOf(times, margin), ...(most === undefined ? [] : [most])].map((cost) => ({ ...cost, of: times.of }));
}
