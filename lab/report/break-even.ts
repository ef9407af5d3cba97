import { type Cost, factorText, inCalm, MEASURES } from './headline.js';
import { isMany, namesOf, type PlaceVerdict } from './places.js';

/**
 * The one that is better in the most of these places, of several the one most often the fastest, and from which of them
 * on it always is. `choice` is its place in the list; 0: nothing is better than the first.
 * @param loads how many loads of one kind, rising, the places are among; undefined: they are others
 * @param preferred one that is better somewhere, to be taken before others
 * @param all the number of places, with those that nothing sustains
 */
export function breakEvenOf(
  verdicts: readonly PlaceVerdict[],
  nameOf: (choice: number) => string,
  loads?: number,
  preferred?: number,
  all = verdicts.length,
): { choice: number; sentence: string } {
  const count = (choice: number) => verdicts.filter(({ better }) => better.includes(choice)).length;
  const firsts = (choice: number) => verdicts.filter(({ better }) => better[0] === choice).length;
  const [most] = [...new Set(verdicts.flatMap(({ better }) => better))].sort(
    (a, b) => count(b) - count(a) || firsts(b) - firsts(a) || a - b,
  );
  const choice = preferred ?? most;
  if (choice === undefined) {
    const isOnly = verdicts.every(({ rows }) => rows.length === 1);
    const worstOf = (of: typeof lossesOf) =>
      highest(verdicts, 'Most is lost', (one) =>
        one.rows.flatMap(({ at }) =>
          of(one, at).map((cost) => ({ ...cost, under: isOnly ? '' : ` under ${nameOf(at)}` })),
        ),
      );
    const open = verdicts.filter(({ isOpen }) => isOpen);
    if (open.length > 0) {
      const worst = worstOf(slowerOf);
      const where = worst === '' ? '' : ` ${namesOf(open.map(({ place }) => lowered(place)))}`;
      const whether = `${isOnly ? nameOf(1) : 'anything'} is better than ${nameOf(0)}`;
      return { choice: 0, sentence: `These runs cannot tell whether ${whether}${where}.${worst}` };
    }
    const [gain] = verdicts
      .flatMap((one) => (one.gain === undefined ? [] : [`${all > 1 ? `${lowered(one.place)}, ` : ''}${one.gain}.`]))
      .reverse();
    const nothing = `nothing is significantly better${loads === undefined && all > 1 ? ` ${namesOf(verdicts.map(({ place }) => lowered(place)))}` : verdicts.length < (loads ?? 0) ? ' at loads that can be sustained' : ''}`;
    return { choice: 0, sentence: `Keep ${nameOf(0)}: ${gain ?? `${nothing}.${worstOf(lossesOf)}`}` };
  }
  const from = verdicts.findLastIndex(({ better }) => !better.includes(choice)) + 1;
  const paying = verdicts.filter(({ better }) => better.includes(choice));
  const rest = verdicts.filter((one) => !paying.includes(one));
  const say = (where: string) => ({
    choice,
    sentence: `${nameOf(choice)} ${where}: ${gainOf(paying, choice, nameOf(0))}.${highest(paying, 'Price', (one) => priceOf(one, choice)) || ' No price is certain.'}${highest(rest, 'Elsewhere', (one) => lossesOf(one, choice))}`,
  });
  if (loads === undefined || from >= verdicts.length)
    return say(
      `is better than ${nameOf(0)} ${isMany(paying) ? `in ${paying.length} of these ${all}` : namesOf(paying.map(({ place }) => lowered(place)))}`,
    );
  const [first, last] = [verdicts[from], verdicts.at(-1)].map((one) => one?.place.replace(/^At |^With /, '') ?? '') as [
    string,
    string,
  ];
  const upTo = from === verdicts.length - 1 ? `at ${last}` : `from ${first.replace(UNIT, '')} to ${last}`;
  const isAll = verdicts.length === loads;
  return say(
    `pays ${isAll && from === 0 ? 'at all of these loads' : upTo}${isAll ? '' : `, the most that is sustained`}`,
  );
}

const UNIT = / (a second|at a time)$/;

/** By how much programs are faster at most, and what that hangs on. @param first name of the first */
function gainOf(paying: readonly PlaceVerdict[], choice: number, first: string): string {
  const own = paying
    .flatMap(({ rows }) => rows.filter(({ at }) => at === choice))
    .map(({ outcome, times, told }) => ({
      isGrowing: outcome.includes('*') && told === times,
      mean: told.programs.mean,
      of: told.of,
    }));
  const most = own.reduce((one, other) => ((other.mean.ratio ?? 1) < (one.mean.ratio ?? 1) ? other : one));
  const bursts = paying.filter((one) => one.bursts?.includes(choice));
  const places = bursts.length === paying.length ? '' : ` ${namesOf(bursts.map((each) => lowered(each.place)))}`;
  const caveat = bursts.length === 0 ? '' : `,${places} for certain only with seeds that overload ${first}`;
  const longer = most.isGrowing && bursts.length < paying.length ? ' (more in longer runs)' : '';
  return `programs ${paying.length > 1 ? 'up to ' : ''}${factorText(most.mean)}${inCalm(most)}${longer}${caveat}`;
}

const slowerOf = ({ losses }: PlaceVerdict, choice: number): readonly Cost[] =>
  losses.flatMap(({ at, factor, text }) =>
    at === choice && factor > 1 ? [{ measure: 'mean' as const, factor, text }] : [],
  );

const lossesOf = (one: PlaceVerdict, choice: number): readonly Cost[] => [
  ...slowerOf(one, choice),
  ...priceOf(one, choice),
];

const priceOf = ({ rows }: PlaceVerdict, choice: number): readonly Cost[] =>
  rows.find(({ at, isOut }) => at === choice && !isOut)?.price ?? [];

const lowered = (place: string): string => `${place.charAt(0).toLowerCase()}${place.slice(1)}`;

/** The highest of each measure, with its place, if there are several, and the repetitions, if nothing has named them: a sentence after others, if any is. */
function highest(
  all: readonly PlaceVerdict[],
  words: string,
  of: (one: PlaceVerdict) => readonly (Cost & { readonly under?: string })[],
): string {
  const isNamed = all.length < 2 && words === 'Price';
  const costs = all.flatMap((one) =>
    of(one).map((cost) => ({
      ...cost,
      place: `${cost.under ?? ''}${all.length > 1 || words === 'Elsewhere' ? ` ${lowered(one.place)}` : ''}${isNamed || cost.of === undefined ? '' : ` (${cost.of})`}`,
    })),
  );
  const measures = MEASURES.filter((name) => costs.some(({ measure }) => measure === name));
  const most = measures.flatMap((name) =>
    costs
      .filter(({ measure }) => measure === name)
      .sort((a, b) => b.factor - a.factor)
      .slice(0, 1),
  );
  // The same place is told once, after all that is of it.
  const texts = most.map(({ text, place }, at) => `${text}${place === most[at + 1]?.place ? '' : place}`);
  return most.length === 0 ? '' : ` ${words}: ${texts.join('; ')}.`;
}
