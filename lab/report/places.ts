import { number } from '../../text/index.js';
import { moreOf, type Ratio, verdictOf } from '../measure/comparison.js';
import { ratioText } from './grid.js';
import { type Cost, FACTOR_MIN, outcomeOf, textsOf, type Times, worseOf } from './headline.js';

/** A setting or target that was tried in one place, such as at one rate. */
export interface Tried {
  readonly name: string;
  /** Against those of the first one there. */
  readonly times: Times;
  /** Whether it is not compared; whether it cannot be chosen. */
  readonly isOut?: boolean;
  readonly isForeign?: boolean;
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
  const tried = compared.filter((each) => !each.isWorn && each.isForeign !== true);
  const sooner = tried.filter(({ verdict }) => verdict === 'sooner').map((each) => ({ ...each, price: priceOf(each, margin) })).sort((a, b) => timeOf(a) - timeOf(b)); // prettier-ignore
  const worthy = sooner.filter(({ price, ...each }) => price.length === 0 || timeOf(each) < SLIGHT); // prettier-ignore
  // Others within the interval of the fastest may be as fast: of them, the one under which fewest programs fail.
  const within = worthy[0]?.ratio.high ?? worthy[0]?.ratio.ratio ?? 0;
  const alike = worthy.filter((each) => timeOf(each) <= within).sort((a, b) => a.failed - b.failed);
  const better = [...alike, ...worthy.filter((each) => !alike.includes(each))];
  const [best] = better;
  const losses = lossesOf(compared, margin);
  const bursts = first?.isOverloaded === true ? [] : better.filter(({ times }) => times.sustained?.isSooner === false).map(({ at }) => at); // prettier-ignore
  const say = (text: string, enough?: number) => ({ place, better: better.map(({ at }) => at), prices: better.map(({ price }) => price), bursts, losses, enough, sentence: `${place}: ${[text, ...fewOf(losses.map(({ name, priced }) => ({ name, text: priced })))].join('; ')}.` }); // prettier-ignore
  if (best === undefined) {
    const unsure = tried.filter(({ verdict }) => verdict === 'unsure').map((each) => ({ ...each, more: moreOf(each.ratio, margin, repeated) })).sort((a, b) => timeOf(a) - timeOf(b)); // prettier-ignore
    const enough = Math.max(0, ...unsure.map(({ more }) => more.count ?? 0)) || undefined;
    const texts = fewOf(unsure.map(({ name, ratio, sustained, isSooner, more }) => ({ name, text: `: ${ratioText(ratio)}${sustained}${isSooner ? '' : more.text}` }))); // prettier-ignore
    const [slight] = sooner;
    if (slight !== undefined) return { ...say(`${slight.name}, programs ${outcomeOf(slight.ratio, margin)}: ${ratioText(slight.ratio)}${slight.sustained}, too little for its price: ${textsOf(slight.price).join('; ')}`), slight: slight.name }; // prettier-ignore
    const priced = tried.flatMap((each) => {
      const price = priceOf(each, margin, true);
      const text = [...textsOf(price), ...lostOf(each)].join(', ');
      const isTold = text !== '' && each.verdict !== 'later' && (isExact || each.ratio.low !== null);
      const factor = Math.max(1, ...price.map((cost) => cost.factor));
      return isTold ? [{ factor, ...(tried.length === 1 ? { name: '', text } : { name: each.name, text: `: ${text}` }) }] : []; // prettier-ignore
    });
    const worn = fewOf(priced.sort((a, b) => b.factor - a.factor)); // prettier-ignore
    const told = (text: string, more?: number) => say([text, ...worn].join('; '), more);
    const over = tried.some((each) => each.isOverloaded) ? '; overloaded' : '';
    if (unsure.length > 0) return told(`no certain difference (program times ${texts.join('; ')})${over}`, enough);
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
    return told(found + over);
  }
  return say(gainText(all, alike, better.slice(alike.length), margin));
}

/** @param alike the fastest, and those that may be as fast @param others that are faster than the first */
function gainText(all: readonly Tried[], alike: readonly Gain[], others: readonly Gain[], margin: number): string {
  const [[first], [best]] = [all, alike];
  if (first === undefined || best === undefined) return '';
  const both = all.length > 2 ? `${best.name} and ${first.name}` : 'both';
  const grows = 'the factor grows with the number of programs';
  const paid = [...textsOf(best.price), ...lostOf(best)];
  return [
    `${namesOf(alike.map(({ name }) => name), 'or')}, programs ${outcomeOf(best.ratio, margin)}: ${ratioText(best.ratio)}${best.sustained}`, // prettier-ignore
    ...(first.isOverloaded ? [`${best.isOverloaded ? `${both} are` : `${first.name} is`} overloaded, so ${grows}`] : []), // prettier-ignore
    ...(!first.isOverloaded && best.sustained !== '' ? [`in the others, ${grows}`] : []),
    ...(alike.length > 1 && paid.length > 0 ? [`${best.name}: ${paid.join(', ')}`] : paid),
    ...fewOf(others.map(({ name, ratio }) => ({ name, text: ` ${outcomeOf(ratio, margin)}` }))),
  ].join('; ');
}

type Gain = ReturnType<typeof comparedOf>[number] & { readonly price: readonly Cost[] };

/** All that can be chosen, against the first. */
function comparedOf(all: readonly Tried[], margin: number, isExact: boolean) {
  const [first] = all;
  return all.flatMap((each, at) => {
    const { isOverloaded, times: { sustained, programs: { mean: ratio } } } = each; // prettier-ignore
    const verdict = ratio.low === null && ratio.ratio !== null && !isExact ? 'unsure' : verdictOf(ratio, margin);
    const isWorn = isOverloaded && first?.isOverloaded !== true;
    const found = { ...each, at, ratio, verdict, isWorn, sustained: sustained?.text ?? '', isSooner: sustained?.isSooner === true }; // prettier-ignore
    return at === 0 || each.isOut || failsMore(each, first) ? [] : [found];
  });
}

function lossesOf(compared: ReturnType<typeof comparedOf>, margin: number) {
  const losses = compared.flatMap((each) => {
    const { at, name, sustained, verdict, ratio, isWorn } = each;
    if (verdict !== 'later' && !(isWorn && verdict === 'unsure')) return [];
    const slower = verdict === 'later' ? `, programs ${outcomeOf(ratio, margin)}` : '';
    const text = `${isWorn ? ', overloaded' : ''}${slower}: ${ratioText(ratio)}${sustained}`;
    const price = isWorn ? [] : textsOf(priceOf(each, margin));
    return [{ at, name, text, priced: [text, ...price].join(', '), factor: ratio.ratio ?? 1 }];
  });
  return losses.sort((a, b) => b.factor - a.factor);
}

/** Times over the first's from which on a gain is too slight to be paid for. */
const SLIGHT = 0.95;
const timeOf = ({ ratio }: { readonly ratio: Ratio }): number => ratio.ratio ?? Infinity;

/** Deviations by which more programs fail than chance explains, of counts without a known spread: one-sided, 95 %. */
const FAILS = 1.64;
const failsMore = ({ failed }: Tried, first: Tried | undefined): boolean => failed - (first?.failed ?? 0) > FAILS * Math.sqrt(failed + (first?.failed ?? 0)); // prettier-ignore

const lostOf = ({ times: { failed: [before, after] = [0, 0] } }: Tried): string[] => Math.round(before) === Math.round(after) ? [] : [`failed programs ${number(before)} -> ${number(after)}`]; // prettier-ignore

/** Most names in a list; of more the first two are told, and the number of the others. */
const NAMES_MAX = 3;
export const isMany = (list: readonly unknown[]): boolean => list.length > NAMES_MAX;

export const namesOf = (names: readonly string[], joint: 'and' | 'or'): string => (isMany(names) ? [...names.slice(0, 2), `${names.length - 2} more`] : names).join(` ${joint} `); // prettier-ignore

/** Names before their texts, those of equal texts together. */
function fewOf(items: readonly { readonly name: string; readonly text: string }[]): string[] {
  const told = isMany(items) ? items.slice(0, 2) : items;
  const texts = [...new Set(told.map(({ text }) => text))];
  const named = texts.map((text) => namesOf(told.filter((item) => item.text === text).map(({ name }) => name), 'and') + text); // prettier-ignore
  return told === items ? named : [...named, `${items.length - 2} more`];
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
