import { DRAINED } from '../watch/totals.js';
import type { Engine } from './answers.js';
import { agoOf, alike, idsInWords, span } from './figures.js';

/** Engines that went out of service, or came back, for one reason within this time are told as one. */
export const TOGETHER_SECONDS = 30;

/** A time out of service that is over. */
type Outage = Engine['outages'][number] & { readonly until: number };

const sumOf = (outages: readonly Outage[]): number => outages.reduce((sum, { from, until }) => sum + until - from, 0);
const longestOf = (outages: readonly Outage[]) => outages.toSorted((a, b) => sumOf([b]) - sumOf([a]))[0];

/**
 * `was down for 41 s (connection refused), until 5 s ago`; of several outages, their sum and the longest; '' of none.
 * @param all those of an engine, or of each of some that were out of service alike
 */
function inWords(was: string, ...all: readonly (readonly Outage[])[]): string {
  const [most = []] = all.toSorted((a, b) => sumOf(b) - sumOf(a));
  const longest = longestOf(most);
  if (longest === undefined) return '';
  const timeOf = (some: readonly Outage[]) => `${all.length > 1 ? 'up to ' : ''}${span(1000 * sumOf(some))}`;
  const told = `${timeOf([longest])} (${longest.reason})`;
  const until = `until ${agoOf(Math.max(...all.flat().map(({ until }) => until)))}`;
  if (most.length === 1) return `${was} down for ${told}, ${until}`;
  return `${was} down ${most.length} times for ${timeOf(most)} in all, ${until}; the longest took ${told}`;
}

/** Those that are over; a drain that is over is no news. */
const overOf = (outages: Engine['outages']): readonly Outage[] =>
  outages.filter((outage): outage is Outage => outage.until !== null && outage.reason !== DRAINED);

/** Of one that is back; '' of others. */
export const outageOf = (outages: Engine['outages']): string =>
  outages.at(-1)?.until === null ? '' : inWords('was', overOf(outages));

const wereTogether = (a: readonly Outage[], b: readonly Outage[]): boolean =>
  a.length === b.length &&
  longestOf(a)?.reason === longestOf(b)?.reason &&
  Math.abs((a.at(-1)?.until ?? 0) - (b.at(-1)?.until ?? 0)) <= TOGETHER_SECONDS;

/** Outages that are over, those of engines alike as one. */
export function pastOutages(engines: readonly Engine[]) {
  const own = engines.map(({ id, outages }) => ({ id, over: overOf(outages) })).filter(({ over }) => over.length > 0);
  const lots = alike(own, ({ over }) => own.findIndex((other) => wereTogether(other.over, over)));
  return lots.map((lot) => {
    const ids = idsInWords(lot);
    const text = `${ids} ${inWords(lot.length > 1 ? 'were' : 'was', ...lot.map(({ over }) => over))}.`;
    return { ids, text };
  });
}

/** `No engine was up for 41 s, until 5 s ago.`: the times in which all were out of service at once, if they are over. */
export function noneUpInWords(engines: readonly Engine[]): string[] {
  const [first = [], ...others] = engines.map(({ outages }) =>
    outages.map(({ from, until }) => ({ from, until: until ?? Infinity, reason: '' })),
  );
  const both = (some: readonly Outage[], more: readonly Outage[]): readonly Outage[] =>
    some.flatMap((a) => more.map((b) => ({ ...a, from: Math.max(a.from, b.from), until: Math.min(a.until, b.until) })));
  const times = others.reduce<readonly Outage[]>(both, first).filter(({ from, until }) => from < until);
  const until = Math.max(...times.map((each) => each.until));
  return engines.length < 2 || times.length === 0 || until === Infinity
    ? []
    : [`No engine was up for ${span(1000 * sumOf(times))}, until ${agoOf(until)}.`];
}
