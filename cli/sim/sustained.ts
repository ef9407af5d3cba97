import { meanOf } from '../../lab/index.js';
import { moreToTell } from '../../loadtest/report/index.js';
import { integer } from '../../text/index.js';
import { isChoice } from './axes.js';
import { AMPLE, PROGRAMS_MAX, ratesOf } from './loads.js';
import { aloneOf, loadOf } from './overload.js';
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

/** More engines, or more programs, where none of several numbers of engines is known to sustain a rate: a sentence. */
export function largerOf(plan: Plan, runs: readonly RunReport[]): string | undefined {
  const [engines, choices, { programs }] = [enginesOf(plan), choicesOf(plan), plan];
  if (engines.length < 2) return undefined;
  const most = Math.max(...engines);
  const first = engines.indexOf(most) * choices;
  const states = Array.from({ length: choices }, (_, choice) => loadOf(plan, runs, first + choice).state);
  if (states.some((state) => state === 'sustained' || state === 'split')) return undefined;
  if (!states.includes('unknown'))
    return `None of these numbers is enough: run again with --engines ${[2, 4, 8].map((times) => times * most).join(',')}.`;
  const { arrivals } = plan.variants[first] ?? {};
  const alone = meanOf(runs.filter(({ variant }) => variant === first).map(aloneOf));
  const lasted = arrivals?.type === 'open' ? programs / arrivals.ratePerSecond : null;
  const more = moreToTell({ arrivals_seconds: lasted, alone_seconds: alone }) ?? 1;
  const needed = Math.min(PROGRAMS_MAX, 100 * Math.ceil((AMPLE * more * programs) / 100));
  return needed > programs ? `Too few programs to tell how many engines sustain this rate: run again with --programs ${needed}.` : undefined; // prettier-ignore
}

/** Numbers of engines, if nothing else around the settings varies at one rate; else none. */
function enginesOf({ lists, variants }: Plan): readonly number[] {
  const isAlone = axesOf(lists).every((axis) => isChoice(axis) || axis === 'engines');
  return variants[0]?.arrivals.type === 'open' && isAlone ? (lists.engines ?? []) : [];
}
