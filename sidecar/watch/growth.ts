/** Calls that wait, in means of minutes, oldest first; null: not known. */
export type Past = readonly (number | null)[];

/** A queue that has grown from so many calls, for so long. */
export interface Growth {
  readonly minutes: number;
  readonly from: number;
}

/** Below this growth, waiting calls are no trouble yet. */
const CALLS_MIN = 10;
const FACTOR_MIN = 1.5;
/** Share of the mean rise that each quarter of the time must have: a burst rises once, and then stays or falls. */
const RISE_SHARE = 0.5;
const QUARTERS = [0, 1, 2, 3] as const;

/** The longest time up to now in which the queue grew steadily; undefined: it did not, or it has begun to shrink. */
export function growthOf(past: Past, nowWaiting: number): Growth | undefined {
  for (let minutes = 4 * Math.floor(past.length / 4); minutes > 0; minutes -= 4) {
    const latest = past.slice(-minutes).filter((mean) => mean !== null);
    if (latest.length < minutes) continue;
    const [from, ...levels] = QUARTERS.map((at) => meanOf(latest.slice((at * minutes) / 4, ((at + 1) * minutes) / 4))) as [number, number, number, number]; // prettier-ignore
    const [second, third, last] = levels;
    const least = (RISE_SHARE * (last - from)) / 3;
    const isSteady = [second - from, third - second, last - third].every((rise) => rise >= least);
    if (isSteady && last - from >= CALLS_MIN && last >= FACTOR_MIN * from && nowWaiting >= third)
      return { minutes, from };
  }
  return undefined;
}

const meanOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** The same minutes of several gateways. A part of the time that this one does not know stays unknown. */
export const joinedPast = (own: Past, others: readonly Past[]): Past =>
  own.map((mean, at) => (mean === null ? null : others.reduce((sum, other) => sum + (other[at] ?? 0), mean)));
