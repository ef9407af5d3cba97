/** Calls that wait: the mean of each half minute, oldest first; null: not known. */
export type Past = readonly (number | null)[];
export const STEP_MS = 30_000;

/** A queue that has grown from so many calls, in so many minutes. */
export interface Growth {
  readonly minutes: number;
  readonly from: number;
}

/** A queue has fallen where it is below this share of what it was before, and by more than a few calls. */
const [FALLEN_SHARE, FALLEN_CALLS] = [0.85, 2];
/** Below this growth, waiting calls are no trouble yet. */
const FACTOR_MIN = 1.5;
/** A fast rise is told sooner. */
const [SLOW, FAST] = [{ minutes: 4, calls: 10 }, { minutes: 2, calls: 30 }]; // prettier-ignore
/** Share of its average pace that the rise must have had in the last minute, or it has stopped. */
const PACE_MIN = 0.25;

/** The rise from the lowest level since the queue last fell; undefined: there is none, it is small, or it has stopped. */
export function growthOf(past: Past, nowWaiting: number): Growth | undefined {
  const levels = past.slice(past.lastIndexOf(null) + 1) as readonly number[];
  const level = (at: number) => levels[at] ?? 0;
  const end = levels.length - 1;
  let [from, low] = [nowWaiting, levels.length];
  for (let at = end; at >= 0 && from >= FALLEN_SHARE * level(at) - FALLEN_CALLS; at -= 1)
    if (level(at) < from) [from, low] = [level(at), at];
  const [steps, rise] = [levels.length - low, nowWaiting - from];
  const minutes = Math.floor(steps / 2);
  const isLarge = [SLOW, FAST].some((least) => minutes >= least.minutes && rise >= least.calls) && nowWaiting >= FACTOR_MIN * from; // prettier-ignore
  const isRising = (level(end) - level(end - 2)) / 2 >= (PACE_MIN * rise) / steps;
  return isLarge && isRising ? { minutes, from } : undefined;
}

/** The same steps of several gateways. A part of the time that this one does not know stays unknown. */
export const joinedPast = (own: Past, others: readonly Past[]): Past =>
  own.map((calls, at) => (calls === null ? null : others.reduce((sum, other) => sum + (other[at] ?? 0), calls)));
