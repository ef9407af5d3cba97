/** Steps in a half-life: time passes for idle contexts in steps, so that between two of them nothing changes by itself. */
export const STEPS_PER_HALF_LIFE = 16;
/** Idle steps after which a context counts as lost. */
export const HORIZON_STEPS = 64;

/** Part of a claim that is left after so many steps. No `**`: its last digit differs between versions of Node, and a recording must replay on any. */
export function faded(age: number): number {
  return Math.exp((-Math.LN2 * age) / STEPS_PER_HALF_LIFE);
}
