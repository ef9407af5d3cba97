/** Drift between the monotonic clock and the time of day at which the latter wins. */
const DRIFT_MS_MAX = 50;

let offsetMs = Date.now() - performance.now();

/**
 * Unix time in milliseconds of a moment of the monotonic clock, which stands still while a machine sleeps: it follows a time
 * of day that was set anew, or that drifted over weeks. @param ms of `performance.now()`
 */
export function wallMs(ms = performance.now()): number {
  const driftMs = Date.now() - performance.now() - offsetMs;
  if (Math.abs(driftMs) > DRIFT_MS_MAX) offsetMs += driftMs;
  return offsetMs + ms;
}
