import type { Step } from './steps.js';

/** So long may more calls wait for room than run: a burst is over by then. */
const CROWDED_SECONDS = 30;

/** Unix time in seconds since when all readings show more calls that wait for room than calls that run; null: the last one does not. */
export function crowdedSince({ steps }: { readonly steps: readonly Step[] }): number | null {
  const last = steps.findLast(({ readings }) => readings.of('in_flight') !== null)?.readings;
  return last !== undefined && (last.of('crowd') ?? 0) > (last.of('in_flight') ?? 0) ? last.of('crowded_since') : null;
}

/** How long an overload has lasted; 0: there is none. The status and the metrics tell it by this rule. @param since when calls began to crowd */
export function overloadSeconds(since: number | null): number {
  const seconds = Date.now() / 1000 - (since ?? Infinity);
  return seconds >= CROWDED_SECONDS ? seconds : 0;
}
