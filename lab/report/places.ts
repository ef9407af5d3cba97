import { number } from '../../text/index.js';
import { moreOf, type Ratio, verdictOf } from '../measure/comparison.js';
import { ratioText } from './grid.js';
import { type Cost, FACTOR_MIN, outcomeOf, type Times, worseOf } from './headline.js';

/** A setting or target that was tried in one place, such as at one rate. */
export interface Tried {
  readonly name: string;
  /** Against those of the first one there. */
  readonly times: Times;
  /** Whether it cannot be chosen. */
  readonly isOut?: boolean;
  readonly isOverloaded: boolean;
  readonly failed: number;
  /** The p99 of program times by kind of program, in seconds, under the first and under it; null of too few programs. */
  readonly p99s: Readonly<Record<string, readonly [number | null, number | null]>>;
}

export interface PlaceVerdict {
  /** Such as `At 0.2 a second`. */
  readonly place: string;
  /** Places in the list of those under which programs are certainly faster than under the first, the fastest first. */
  readonly better: readonly number[];
  /** The times that are worse under each of these. */
  readonly prices: readonly (readonly Cost[])[];
  /** Those of them whose gain is only in repetitions that overload the first, which sustains most. */
  readonly bursts?: readonly number[];
  /** One that is certainly faster, but too little for its price. */
  readonly slight?: string | undefined;
  /** Those that are certainly slower, or overloaded where the first is not: the slowest first. */
  readonly losses: readonly { readonly at: number; readonly name: string; readonly factor: number; readonly text: string }[]; // prettier-ignore
  /** Where nothing is better, and too little was run to know: how many repetitions would tell. */
  readonly enough?: number | undefined;
  readonly sentence: string;
}

interface Terms {
  readonly margin: number;
  /** Name of the repetitions, such as `seeds`: with too few of them a ratio is unsure. */
  readonly repeated: string;
  /** Whether a ratio without an interval is sure, because chance plays no part. */
  readonly isExact: boolean;
}

/** @param all the first is the one that the others are compared with */
export function placeVerdict(place: string, all: readonly Tried[], { margin, repeated, isExact }: Terms): PlaceVerdict {
  const [first] = all;
  const compared = comparedOf(all, margin, isExact);
  const tried = compared.filter((each) => !each.isWorn);
  const sooner = tried.filter(({ verdict }) => verdict === 'sooner').map((each) => ({ ...each, price: priceOf(each, margin) })).sort((a, b) => timeOf(a) - timeOf(b)); // prettier-ignore
  const worthy = sooner.filter(({ price, ...each }) => price.length === 0 || timeOf(each) < SLIGHT); // prettier-ignore
  // Others within the interval of the fastest may be as fast: of them, the one under which fewest programs fail.
  const within = worthy[0]?.ratio.high ?? worthy[0]?.ratio.ratio ?? 0;
  const alike = worthy.filter((each) => timeOf(each) <= within).sort((a, b) => a.failed - b.failed);
  const better = [...alike, ...worthy.filter((each) => !alike.includes(each))];
  const [best] = better;
  const losses = lossesOf(compared, margin);
  const bursts = first?.isOverloaded === true ? [] : better.filter(({ times }) => times.sustained?.isSooner === false).map(({ at }) => at); // prettier-ignore
  const say = (text: string, enough?: number) => ({ place, better: better.map(({ at }) => at), prices: better.map(({ price }) => price), bursts, losses, enough, sentence: `${place}: ${[text, ...folded(losses)].join('; ')}.` }); // prettier-ignore
  if (best === undefined) {
    const unsure = tried.filter(({ verdict }) => verdict === 'unsure').map((each) => ({ ...each, more: moreOf(each.ratio, margin, repeated) })); // prettier-ignore
    const enough = Math.max(0, ...unsure.map(({ more }) => more.count ?? 0)) || undefined;
    const texts = folded(unsure.map(({ name, ratio, sustained, more }) => ({ name, text: ` ${ratioText(ratio)}${sustained}${more.text}` }))); // prettier-ignore
    const [slight] = sooner;
    if (slight !== undefined) return { ...say(`${slight.name}, programs ${outcomeOf(slight.ratio, margin)}: ${ratioText(slight.ratio)}${slight.sustained}, too little for its price: ${textsOf(slight.price).join('; ')}`), slight: slight.name }; // prettier-ignore
    // Of many settings the line would be long.
    const priced = tried.length > TOLD_MAX ? [] : tried.filter(({ verdict, ratio }) => verdict !== 'later' && (isExact || ratio.low !== null)); // prettier-ignore
    const worn = priced.flatMap((each) => {
      const texts = [...textsOf(priceOf(each, margin, true)), ...lostOf(each)];
      return tried.length === 1 ? texts : texts.length > 0 ? [`${each.name}: ${texts.join(', ')}`] : [];
    });
    const told = (text: string, more?: number) => say([text, ...worn].join('; '), more);
    if (unsure.length > 0) return told(`no certain difference (program times ${texts.join('; ')})`, enough);
    const [, other] = all;
    if (other !== undefined && all.length === 2 && failsMore(other, first))
      return say(
        `${other.name} is not compared, as ${number(other.failed)} of its programs failed, ${number(first?.failed ?? 0)} under ${first?.name}`,
      );
    const same = tried.find(({ verdict }) => verdict === 'same');
    const isAlone = tried.length === 0 && compared.some((each) => each.isOverloaded);
    const found =
      same === undefined
        ? isAlone
          ? `only ${first?.name} sustains it`
          : `${first?.name} is fastest`
        : `no difference${worn.length > 0 ? ' in mean time' : ''}${same.sustained}`;
    return told(tried.some((each) => each.isOverloaded) ? `${found}; overloaded` : found);
  }
  const others = better.filter((each) => each !== best && !alike.includes(each));
  const gain = `${alike.map(({ name }) => name).join(' or ')}, programs ${outcomeOf(best.ratio, margin)}:`;
  const told = others.slice(0, OTHERS_MAX).map(({ name, ratio }) => `${name} ${outcomeOf(ratio, margin)}`);
  const more = others.length > told.length ? [`${others.length - told.length} more`] : [];
  const both = all.length > 2 ? `${best.name} and ${first?.name}` : 'both';
  const drained = best.isOverloaded ? `${both} are` : `${first?.name} is`;
  const grows = 'the factor grows with the number of programs';
  const few = best.sustained === '' ? [] : [`in the others, ${grows}`];
  const drain = first?.isOverloaded === true ? [`${drained} overloaded, so ${grows}`] : few;
  return say(
    [
      `${gain} ${ratioText(best.ratio)}${best.sustained}`,
      ...drain,
      ...textsOf(best.price),
      ...lostOf(best),
      ...told,
      ...more,
    ].join('; '),
  );
}

/** All that can be chosen, against the first. */
function comparedOf(all: readonly Tried[], margin: number, isExact: boolean) {
  const [first] = all;
  return all.flatMap((each, at) => {
    const { isOverloaded, times: { sustained, programs: { mean: ratio } } } = each; // prettier-ignore
    const verdict = ratio.low === null && ratio.ratio !== null && !isExact ? 'unsure' : verdictOf(ratio, margin);
    const isWorn = isOverloaded && first?.isOverloaded !== true;
    const found = { ...each, at, ratio, verdict, isWorn, sustained: sustained?.text ?? '' };
    return at === 0 || each.isOut || failsMore(each, first) ? [] : [found];
  });
}

function lossesOf(compared: ReturnType<typeof comparedOf>, margin: number) {
  const losses = compared.flatMap(({ at, name, sustained, verdict, ratio, isWorn }) => {
    if (verdict !== 'later' && !(isWorn && verdict === 'unsure')) return [];
    const slower = verdict === 'later' ? `, programs ${outcomeOf(ratio, margin)}` : '';
    const text = `${isWorn ? ', overloaded' : ''}${slower}: ${ratioText(ratio)}${sustained}`;
    return [{ at, name, text, factor: ratio.ratio ?? 1 }];
  });
  return losses.sort((a, b) => b.factor - a.factor);
}

/** Times over the first's from which on a gain is too slight to be paid for. */
const SLIGHT = 0.95;
const OTHERS_MAX = 2;
/** Settings at a place whose prices are told where none is better. */
const TOLD_MAX = 2;
const timeOf = ({ ratio }: { readonly ratio: Ratio }): number => ratio.ratio ?? Infinity;

/** Deviations by which more programs fail than chance explains, of counts without a known spread: one-sided, 95 %. */
const FAILS = 1.64;
const failsMore = ({ failed }: Tried, first: Tried | undefined): boolean => failed - (first?.failed ?? 0) > FAILS * Math.sqrt(failed + (first?.failed ?? 0)); // prettier-ignore

const textsOf = (price: readonly Cost[]): string[] => price.map(({ text }) => text);

const lostOf = ({ times: { failed: [before, after] = [0, 0] } }: Tried): string[] => before === after ? [] : [`failed programs ${number(before)} -> ${number(after)}`]; // prettier-ignore

/** Names before their texts, those of equal texts together. */
function folded(items: readonly { readonly name: string; readonly text: string }[]): string[] {
  const texts = [...new Set(items.map(({ text }) => text))];
  return texts.map((text) => items.filter((item) => item.text === text).map(({ name }) => name).join(' and ') + text); // prettier-ignore
}

/** Times its p99 before from which on a kind of program pays: of few programs less is chance. */
const PAYS = 1.1;

/**
 * Times that are worse, and the kind of program whose slowest wait longer. A much later p99 of first tokens counts even
 * if by chance.
 * @param isAll whether first tokens that are sooner, or whose p99 may be a little later, are told as well
 */
function priceOf({ p99s, times }: Tried, margin: number, isAll = false): Cost[] {
  const kinds = Object.entries(p99s).flatMap(([kind, [before, after]]) => {
    if (before === null || after === null || after <= PAYS * before) return [];
    return [
      { measure: 'kind', factor: after / before, text: `${kind} pays: p99 ${number(before)} -> ${number(after)} s` },
    ];
  });
  const [most] = kinds.sort((a, b) => b.factor - a.factor);
  const { p99 } = times.firstToken;
  const isTold = (value: Ratio) => {
    const verdict = verdictOf(value, margin);
    const isPerhaps = value === p99 && verdict === 'unsure' && (value.ratio ?? 0) > (isAll ? 1 / (1 - margin) : FACTOR_MIN); // prettier-ignore
    return verdict === 'later' || (isAll && verdict === 'sooner') || isPerhaps;
  };
  return [...worseOf(times, margin, isTold), ...(most === undefined ? [] : [most])];
}

/**
 * The one that is better in the most of these places, of several the one most often the fastest, and from which of them
 * on it always is. `choice` is its place in the list; 0: nothing is better than the first.
 * @param loads how many loads of one kind, rising, the places are among; undefined: they are others
 * @param preferred one that is better somewhere, to be taken before others
 * @param sustained who sustains the highest of these places
 * @param all the number of places, with those that nothing sustains
 */
export function breakEvenOf(
  verdicts: readonly PlaceVerdict[],
  nameOf: (choice: number) => string,
  loads?: number,
  preferred?: number,
  sustained = 'it sustains',
  all = verdicts.length,
): { choice: number; sentence: string } {
  const count = (choice: number) => verdicts.filter(({ better }) => better.includes(choice)).length;
  const firsts = (choice: number) => verdicts.filter(({ better }) => better[0] === choice).length;
  const [most] = [...new Set(verdicts.flatMap(({ better }) => better))].sort(
    (a, b) => count(b) - count(a) || firsts(b) - firsts(a) || a - b,
  );
  const choice = preferred ?? most;
  if (choice === undefined) {
    const unsure = verdicts.filter(({ enough }) => enough !== undefined).map(({ place }) => lowered(place));
    const where = unsure.length === verdicts.length ? '' : ` ${unsure.join(', ')}; elsewhere nothing is`;
    const answer = unsure.length > 0 ? `These runs cannot tell whether anything is better than ${nameOf(0)}${where}` : `Keep ${nameOf(0)}: nothing is significantly better${verdicts.length < (loads ?? 0) ? ' at loads that can be sustained' : ''}`; // prettier-ignore
    return { choice: 0, sentence: `${answer}.${worstOf(verdicts)}` };
  }
  const from = verdicts.findLastIndex(({ better }) => !better.includes(choice)) + 1;
  const name = nameOf(choice);
  const paying = verdicts.filter(({ better }) => better.includes(choice));
  const [words, places] = paying.length > 1 ? ['Its price is highest', paying] : ['Its price', paying.map((each) => ({ ...each, place: '' }))]; // prettier-ignore
  const price = highest(places, words, ({ better, prices }) => prices[better.indexOf(choice)] ?? []);
  const say = (text: string) => ({ choice, sentence: `${name} ${text}.${price}${worstOf(verdicts, choice)}` });
  const where = paying.length < all && paying.length <= NAMED_MAX ? `: ${paying.map((each) => lowered(each.place)).join(', ')}` : ''; // prettier-ignore
  if (loads === undefined || from >= verdicts.length) return say(`is better in ${paying.length === all ? 'each of these' : `${paying.length} of these ${all}`}${where}`); // prettier-ignore
  const place = (verdicts[from]?.place ?? '').replace(/^At |^With /, '');
  const isAll = verdicts.length === loads;
  const isLast = from === verdicts.length - 1;
  const burst = verdicts[from]?.bursts?.includes(choice) === true ? `; at ${place} only in seeds that overload ${nameOf(0)}` : ''; // prettier-ignore
  if (isAll) return say(`pays ${from === 0 ? 'at all of these loads' : isLast ? `at ${place}` : `from ${place} on`}${burst}`); // prettier-ignore
  const last = (verdicts.at(-1)?.place ?? '').replace(/^At |^With /, '');
  return say(`pays ${isLast ? 'at' : `from ${place.replace(UNIT, '')} to`} ${last}, the highest of these loads that ${sustained}${burst}`); // prettier-ignore
}

const NAMED_MAX = 3;
const UNIT = / (a second|at a time)$/;

/** The place where most is lost, as a sentence after others, if any is. @param choice the only one to tell of; absent: any is */
export const worstOf = (verdicts: readonly PlaceVerdict[], choice?: number): string =>
  highest(verdicts, 'Most is lost', ({ losses }) =>
    losses
      .filter(({ at, factor }) => factor > 1 && (choice === undefined || at === choice))
      .map(({ name, factor, text }) => ({ measure: 'program', factor, text: `${name}${text}` })),
  );

const lowered = (place: string): string => `${place.charAt(0).toLowerCase()}${place.slice(1)}`;

/** The highest of each measure, with its place. */
function highest(all: readonly PlaceVerdict[], words: string, of: (one: PlaceVerdict) => readonly Cost[]): string {
  const costs = all.flatMap((one) => of(one).map((cost) => ({ ...cost, place: one.place })));
  const measures = [...new Set(costs.map(({ measure }) => measure))];
  const most = measures.flatMap((name) => costs.filter(({ measure }) => measure === name).sort((a, b) => b.factor - a.factor).slice(0, 1)); // prettier-ignore
  const places = [...new Set(most.map(({ place }) => place))].map((place) => {
    const texts = textsOf(most.filter((cost) => cost.place === place));
    return `${place === '' ? '' : ` ${lowered(place)}`}: ${texts.join('; ')}`;
  });
  return most.length === 0 ? '' : ` ${words}${places.join(';')}.`;
}

export const isRising = (loads: readonly number[]): boolean => loads.length > 1 && loads.every((load, at) => at === 0 || load > (loads[at - 1] ?? 0)); // prettier-ignore
