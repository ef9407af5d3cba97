import { integer } from '../../text/index.js';
import { isChoice } from './axes.js';
import { ratesOf } from './loads.js';
import { loadOf, programsToTell } from './overload.js';
import { axesOf, choicesOf, type Plan, settingOf } from './plan.js';
import type { RunReport } from './worker.js';

/** Words for rates, and for numbers of engines. */
const WORDS = {
  rates: {
    ...{ at: 'at', all: 'all of these loads', none: 'none of these loads' },
    from: (last: number, isUnknown: boolean) => `${isUnknown ? 'at least ' : ''}up to ${last} a second`,
  },
  engines: {
    ...{ at: 'on', all: 'on each of these', none: 'on none of these' },
    from: (last: number, isUnknown: boolean) => `on ${last} engines or more${isUnknown ? ', perhaps on fewer' : ''}`,
  },
};

/** Up to which rate, or from how many engines on, each setting keeps up; none where neither is several. */
export function sustainedOf(plan: Plan, runs: readonly RunReport[]): string[] {
  const choices = choicesOf(plan);
  const engines = enginesOf(plan);
  const words = engines.length > 1 ? WORDS.engines : WORDS.rates;
  // The lowest load first: the lowest rate, or the most engines.
  const places = (engines.length > 1 ? engines : ratesOf(plan)).map((value, at) => ({ value, first: at * choices }));
  if (engines.length > 1) places.sort((a, b) => b.value - a.value);
  if (places.length < 2) return [];
  const named = new Map<string, string[]>();
  for (let choice = 0; choice < choices; choice += 1) {
    const loads = places.map(({ value, first }) => ({ value, ...loadOf(plan, runs, first + choice) }));
    const from = loads.findIndex(({ kept, seeds, state }) => kept < seeds || state === 'unknown');
    const isUnknown = loads[from]?.state === 'unknown';
    const parts = loads.flatMap(({ value, kept }, at) => at >= from && kept > 0 && !isUnknown ? [`${value} in ${kept}`] : []); // prettier-ignore
    const some = parts.length === 0 ? [] : [`${words.at} ${parts.join(', ')} of ${plan.seeds.length} seeds`];
    const none = isUnknown ? 'unknown, with so few programs' : words.none;
    const sure = from > 0 ? [words.from(loads[from - 1]?.value ?? 0, isUnknown)] : some.length > 0 ? [] : [none];
    const text = from === -1 ? words.all : [...sure, ...some].join(', ');
    named.set(text, [...(named.get(text) ?? []), settingOf(plan, choice)]);
  }
  const texts = [...named].map(([text, names]) => (named.size === 1 ? text : `${names.join(' and ')} ${text}`));
  return [`Sustained with ${integer(plan.programs)} programs: ${texts.join('; ')}.`];
}

/** The next command of a search for the number of engines that sustains a rate: a sentence. */
export function enginesNext(plan: Plan, runs: readonly RunReport[]): string | undefined {
  const [engines, choices] = [enginesOf(plan), choicesOf(plan)];
  if (engines.length < 2) return undefined;
  const states = engines.map((_, at) => Array.from({ length: choices }, (__, choice) => loadOf(plan, runs, at * choices + choice).state)); // prettier-ignore
  const unknown = states.findLastIndex((each) => each.includes('unknown'));
  const programs = unknown < 0 ? undefined : programsToTell(plan, runs, unknown * choices);
  if (programs !== undefined)
    return `Too few programs to tell how many engines sustain this rate: run again with --programs ${programs}.`;
  const found = states.findIndex((each) => each.includes('sustained'));
  const [fewer = 1, enough = 1] = found < 0 ? [] : [engines[found - 1], engines[found]];
  if (enough > fewer + 1 || (found === 0 && enough > 1)) return `Fewer than ${enough} engines may be enough: run again with --engines ${between(fewer, enough)}.`; // prettier-ignore
  if (found >= 0 && plan.seeds.length < SEEDS)
    return `So few seeds hardly tell where enough begins: run again with --engines ${fewer}..${enough + 1} --seed 1..${SEEDS}.`;
  const most = engines.at(-1) ?? 0;
  const isNone = states.every((each) => each.every((state) => state === 'overloaded'));
  return isNone ? `None of these numbers is enough: run again with --engines ${[2, 4, 8].map((times) => times * most).join(',')}.` : undefined; // prettier-ignore
}

/** Seeds that tell where a load begins to be sustained. */
const SEEDS = 8;

/** The whole numbers from one to another, or five of them. */
const between = (low: number, high: number): string =>
  high - low > 8 ? [0, 1, 2, 3, 4].map((part) => Math.round(low * (high / low) ** (part / 4))).join(',') : `${low}..${high}`; // prettier-ignore

/** Numbers of engines, if nothing else around the settings varies at one rate; else none. */
export function enginesOf({ lists, variants }: Plan): readonly number[] {
  const isAlone = axesOf(lists).every((axis) => isChoice(axis) || axis === 'engines');
  return variants[0]?.arrivals.type === 'open' && isAlone ? (lists.engines ?? []) : [];
}
