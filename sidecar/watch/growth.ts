/** Calls that wait, in means of half minutes, oldest first; null: not known. */
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

/** The present rise, from the low point at which it began; undefined: there is none, or it is small. */
export function growthOf(past: Past, nowWaiting: number): Growth | undefined {
  const levels = past.slice(past.lastIndexOf(null) + 1) as readonly number[];
  const level = (at: number) => levels[at] ?? 0;
  let at = levels.length - 1;
  while (at >= LULL_STEPS && level(at) > level(at - LULL_STEPS)) at -= 1;
  const lull = levels.slice(Math.max(0, at - LULL_STEPS), at + 1);
  const from = Math.min(...lull);
  const steps = levels.length - levels.lastIndexOf(from, at);
  const rise = nowWaiting - from;
  const isLarge = [SLOW, FAST].some((least) => steps >= least.steps && rise >= least.calls);
  const [twoMinutesAgo, minuteAgo] = [level(levels.length - 4), level(levels.length - 2)];
  const isOn = nowWaiting - minuteAgo >= RISE_SHARE * (nowWaiting - twoMinutesAgo);
  return isLarge && isOn && nowWaiting >= FACTOR_MIN * from ? { minutes: Math.floor(steps / 2), from } : undefined;
}

/** The same steps of several gateways. A part of the time that this one does not know stays unknown. */
export const joinedPast = (own: Past, others: readonly Past[]): Past =>
  own.map((mean, at) => (mean === null ? null : others.reduce((sum, other) => sum + (other[at] ?? 0), mean)));
