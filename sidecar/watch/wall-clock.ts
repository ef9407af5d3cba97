/** Drift between the monotonic clock and the time of day at which the latter wins. */
const DRIFT_MS_MAX = 50;

/** Time of day of the monotonic clock, which stands still while a machine sleeps. No step is below `DRIFT_MS_MAX`. */
export class WallClock {
  #offsetMs = Date.now() - performance.now();

  /** Unix time in milliseconds. @param ms milliseconds of `performance.now()` */
  at(ms: number): number {
    return this.#offsetMs + ms;
  }

  /** Follows a time of day that was set anew, or that drifted over weeks. */
  adjust(): void {
    const driftMs = Date.now() - this.at(performance.now());
    if (Math.abs(driftMs) > DRIFT_MS_MAX) this.#offsetMs += driftMs;
  }
}
