import type { TotalsView } from './totals.js';
import { wallMs } from './wall-clock.js';

/** So long may more calls wait for room than run: a burst is over by then. */
const CROWDED_SECONDS = 30;

/** Unix time in seconds since when all readings show more calls that wait for room than calls that run; null: the last one does not. */
export function crowdedSince({ steps, stepMs, firstMs }: TotalsView): number | null {
  const read = steps.flatMap(({ readings }, at) => {
    const running = readings.of('in_flight');
    return running === null ? [] : [{ at, isCrowded: (readings.of('crowd') ?? 0) > running }];
  });
  const first = read[read.findLastIndex(({ isCrowded }) => !isCrowded) + 1];
  return first === undefined ? null : Math.round(wallMs(firstMs + stepMs * first.at) / 1000);
}

/** How long an overload has lasted; 0: there is none. The status and the metrics tell it by this rule. @param since when calls began to crowd */
export function overloadSeconds(since: number | null): number {
  const seconds = Date.now() / 1000 - (since ?? Infinity);
  return seconds >= CROWDED_SECONDS ? seconds : 0;
}
