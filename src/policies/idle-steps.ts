/** Steps in a half-life. Idle contexts age in steps, so that nothing changes by itself between two of them. */
export const STEPS_PER_HALF_LIFE = 16;
/** Idle steps after which a context counts as lost. */
export const HORIZON_STEPS = 64;

/** Share of a claim left at this age in steps. No `**`: its last digit varies with Node, and recordings must replay. */
export function faded(age: number): number {
  return Math.exp((-Math.LN2 * age) / STEPS_PER_HALF_LIFE);
}

export function stepOf(nowMs: number, halfLifeMs: number): number {
  return Math.floor((nowMs * STEPS_PER_HALF_LIFE) / halfLifeMs);
}

export function nextStepMs(nowMs: number, halfLifeMs: number): number {
  const next = stepOf(nowMs, halfLifeMs) + 1;
  let atMs = (next * halfLifeMs) / STEPS_PER_HALF_LIFE;
  // Rounding down would leave this time in the present step, and a caller that waits for the next one would spin.
  while (stepOf(atMs, halfLifeMs) < next) atMs += Math.abs(atMs) * Number.EPSILON;
  return atMs;
}
