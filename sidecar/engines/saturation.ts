import type { ProgramId } from '../../src/index.js';

/** Rest of an engine that names no time, the shortest rest, and the longest. The scheduler doubles it as needed. */
const REST_MS = 500;
const REST_MS_MIN = 50;
const REST_MS_MAX = 8000;
/** Time for which an answer to a program indicates the engine's room. */
const RECENT_MS = 5000;

/** Judges answers that report "no room": the scheduler is told of a rest, or the answer is the caller's own. */
export class Saturation {
  /** Times of the last answers and refusals to two programs: enough to know whether another program had one. */
  readonly #served = new Map<ProgramId, number>();
  readonly #refused = new Map<ProgramId, number>();

  served(program: ProgramId, nowMs: number): void {
    note(this.#served, program, nowMs);
  }

  /**
   * @param isSingling whether the answer may concern one caller: 429
   * @param askedMs its `Retry-After`. No more than 8 s of it count, because others wait
   * @returns least milliseconds to rest; undefined: this caller's own, as others are served and not refused
   */
  refused(program: ProgramId, isSingling: boolean, askedMs: number | undefined, nowMs: number): number | undefined {
    note(this.#refused, program, nowMs);
    const hasOther = (times: ReadonlyMap<ProgramId, number>) =>
      [...times].some(([each, atMs]) => each !== program && nowMs - atMs < RECENT_MS);
    if (isSingling && hasOther(this.#served) && !hasOther(this.#refused)) return undefined;
    return Math.min(REST_MS_MAX, Math.max(REST_MS_MIN, askedMs ?? REST_MS));
  }
}

function note(times: Map<ProgramId, number>, program: ProgramId, atMs: number): void {
  times.delete(program);
  times.set(program, atMs);
  for (const oldest of times.keys()) if (times.size > 2) times.delete(oldest);
}
