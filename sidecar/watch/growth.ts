/** Calls that wait: the fewest of each half minute, oldest first; null: not known. */
export type Past = readonly (number | null)[];
export const STEP_MS = 30_000;

/** A queue that has grown from so many calls, for so long. */
export interface Growth {
  readonly minutes: number;
  readonly from: number;
}

/** A rise ends where the queue was no longer than so many steps before. */
const LULL_STEPS = 3;
/** Below this growth, waiting calls are no trouble yet. */
const FACTOR_MIN = 1.5;
/** A fast rise is told sooner. */
const [SLOW, FAST] = [{ steps: 8, calls: 10 }, { steps: 4, calls: 30 }]; // prettier-ignore
/** Share of the last two minutes' rise that the last minute must have: a burst rises once, and then stays or falls. */
const RISE_SHARE = 0.25;

/** The present rise, from the low point at which it began; undefined: there is none, or it was always small. Once told, it is told to its end. */
export function growthOf(past: Past, nowWaiting: number): Growth | undefined {
  const levels = past.slice(past.lastIndexOf(null) + 1) as readonly number[];
  const level = (at: number) => levels[at] ?? 0;
  let at = levels.length - 1;
  while (at >= LULL_STEPS && level(at) > level(at - LULL_STEPS)) at -= 1;
  const from = Math.min(...levels.slice(Math.max(0, at - LULL_STEPS), at + 1));
  const low = levels.lastIndexOf(from, at);
  const wasLarge = levels.some((calls, end) => {
    const isLarge = [SLOW, FAST].some((least) => end >= low + least.steps && calls >= from + least.calls);
    return isLarge && calls >= FACTOR_MIN * from && calls - level(end - 2) >= RISE_SHARE * (calls - level(end - 4));
  });
  return wasLarge && nowWaiting > from ? { minutes: Math.floor((levels.length - low) / 2), from } : undefined;
}

/** The same steps of several gateways. A part of the time that this one does not know stays unknown. */
export const joinedPast = (own: Past, others: readonly Past[]): Past =>
  own.map((calls, at) => (calls === null ? null : others.reduce((sum, other) => sum + (other[at] ?? 0), calls)));
