import { brief, counted, span } from '../../text/index.js';
import { FAILURES_OVER_MS } from '../engines/index.js';
import { wallMs } from '../watch/wall-clock.js';

export { counted, integer as count, span } from '../../text/index.js';

/** Unix time of a moment on the driver's clock. */
export const unixSeconds = (ms: number): number => seconds(wallMs(ms));

export const limitOf = (tokens = Infinity): number | null => (tokens === Infinity ? null : Math.floor(tokens));

export const secondsOr = (ms: number | null | undefined): number | null =>
  ms === null || ms === undefined ? null : seconds(ms);

/** None is below 0: a look may be a moment older than what it tells of. */
export const seconds = (ms: number): number => Math.max(0, Math.round(ms)) / 1000;

export const named = (text: string): string => JSON.stringify(brief(text));

export const percent = (share: number): string => `${Math.round(1000 * share) / 10} %`;

export const agoOf = (at: number): string => `${span(Date.now() - 1000 * at)} ago`;

export const latestOf = (what: string, at: number): string => ` in the last 5 min${what}; the last one ${agoOf(at)}`;

export const isRecent = (at: number): boolean => Date.now() - 1000 * at <= FAILURES_OVER_MS;

export const DOWN_SHOWN = 5;

export function idsInWords(engines: readonly { readonly id: string }[]): string {
  const [ids, more] = [engines.slice(0, DOWN_SHOWN).map(({ id }) => id), engines.length - DOWN_SHOWN];
  return ids.join(', ') + (more > 0 ? ` and ${counted(more, 'other')}` : '');
}

/** Those with one key together, in the order in which the keys come. */
export const alike = <T>(all: readonly T[], keyOf: (each: T) => unknown): [T, ...T[]][] =>
  [...new Set(all.map(keyOf))].map((key) => all.filter((each) => keyOf(each) === key) as [T, ...T[]]);
