import { type Cost, textsOf } from './headline.js';
import { isMany, namesOf, type PlaceVerdict } from './places.js';

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
    const unsure = verdicts.filter(({ isOpen }) => isOpen).map(({ place }) => lowered(place));
    const last = unsure.length - 1;
    const where =
      unsure.length === verdicts.length
        ? ''
        : ` ${new Intl.ListFormat('en-GB').format(unsure.map((text, at) => (at === last ? text : text.replace(UNIT, '')).replace(at === 0 ? '' : /^(at|with) /, '')))}`;
    const only = verdicts.every(({ rows }) => rows.length === 1) ? 1 : undefined;
    if (unsure.length > 0) return { choice: 0, sentence: `These runs cannot tell whether ${only === undefined ? 'anything' : nameOf(1)} is better than ${nameOf(0)}${where}.${worstOf(verdicts)}` }; // prettier-ignore
    const gains = verdicts.flatMap(({ place, gain }) => gain === undefined ? [] : [all > 1 ? `${lowered(place)}, ${gain}` : gain]); // prettier-ignore
    const nothing = `nothing is significantly better${loads === undefined && all > 1 ? ` ${namesOf(verdicts.map(({ place }) => lowered(place)))}` : verdicts.length < (loads ?? 0) ? ' at loads that can be sustained' : ''}`; // prettier-ignore
    const others = verdicts.filter(({ gain }) => gain === undefined);
    return { choice: 0, sentence: `Keep ${nameOf(0)}: ${gains.at(-1) ?? nothing}.${worstOf(others, only)}` };
  }
  const from = verdicts.findLastIndex(({ better }) => !better.includes(choice)) + 1;
  const name = nameOf(choice);
  const paying = verdicts.filter(({ better }) => better.includes(choice));
  const price = highest(paying, 'Its price is highest', (one) => priceOf(one, choice)) || ' No price is certain.';
  const rest = verdicts.filter((one) => !paying.includes(one));
  const bursts = paying.filter((one) => one.bursts?.includes(choice));
  const places = bursts.length === paying.length ? '' : ` ${namesOf(bursts.map((each) => lowered(each.place)))}`;
  const caveat = bursts.length === 0 ? '' : ` The gain${places} is certain only with seeds that overload ${nameOf(0)}.`;
  const say = (text: string) => ({ choice, sentence: `${name} ${text}.${caveat}${price}${worstOf(rest, choice)}` });
  const among = isMany(paying) ? '' : `: ${paying.map(({ place }) => lowered(place)).join('; ')}`;
  if (loads === undefined || from >= verdicts.length) return say(`is better than ${nameOf(0)} in ${paying.length === all ? 'each' : paying.length} of these ${all}${among}`); // prettier-ignore
  const place = (verdicts[from]?.place ?? '').replace(/^At |^With /, '');
  const isLast = from === verdicts.length - 1;
  const last = (verdicts.at(-1)?.place ?? '').replace(/^At |^With /, '');
  const upTo = `from ${place.replace(UNIT, '')} to ${last}`;
  if (verdicts.length === loads) return say(`pays ${from === 0 ? 'at all of these loads' : isLast ? `at ${place}` : `${upTo}, the most that was tried`}`); // prettier-ignore
  return say(`pays ${isLast ? `at ${last}` : upTo}, the highest of these loads that ${sustained}`);
}

const UNIT = / (a second|at a time)$/;

/** The place where most is lost, as a sentence after others, if any is. @param choice the only one to tell of; undefined: any is */
const worstOf = (verdicts: readonly PlaceVerdict[], choice?: number): string =>
  highest(verdicts, 'Most is lost', (one) => [
    ...one.losses
      .filter(({ at, factor }) => factor > 1 && (choice === undefined || at === choice))
      .map(({ name, factor, text }) => ({ measure: 'mean', factor, text: `${name}${text}` })),
    ...(choice === undefined ? [] : priceOf(one, choice)),
  ]);

const priceOf = ({ rows }: PlaceVerdict, choice: number): readonly Cost[] => rows.find(({ at, isOut }) => at === choice && !isOut)?.price ?? []; // prettier-ignore

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
