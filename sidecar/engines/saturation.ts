import type { ProgramId } from '../../src/index.js';

/** Rest of an engine that names no time, the shortest rest, and the longest. The scheduler doubles it as needed. */
const REST_MS = 500;
const REST_MS_MIN = 50;
const REST_MS_MAX = 8000;
/** Time for which an answer to a program indicates the engine's room. */
const RECENT_MS = 5000;

/** Judges answers that report "no room": the scheduler is told of a rest, or the answer is the caller's own. */
export class Saturation {
  readonly #served = new LastTwo();
  readonly #refused = new LastTwo();

  served(program: ProgramId, nowMs: number): void {
    this.#served.note(program, nowMs);
  }

  /**
   * @param isSingling whether the answer may concern one caller: 429
   * @param askedMs its `Retry-After`. No more than 8 s of it count, because others wait
   * @returns least milliseconds to rest; undefined: other programs are served and not refused, so the answer concerns
   * this caller
   */
  refused(program: ProgramId, isSingling: boolean, askedMs: number | undefined, nowMs: number): number | undefined {
    this.#refused.note(program, nowMs);
    if (isSingling && this.#served.hasOther(program, nowMs) && !this.#refused.hasOther(program, nowMs))
      return undefined;
    return Math.min(REST_MS_MAX, Math.max(REST_MS_MIN, askedMs ?? REST_MS));
  }
}

/** The last two programs with an event: enough to know whether another program had one. */
class LastTwo {
  #last: { readonly program: ProgramId; readonly atMs: number } | undefined;
  #before: { readonly program: ProgramId; readonly atMs: number } | undefined;

  note(program: ProgramId, atMs: number): void {
    if (this.#last?.program !== program) this.#before = this.#last;
    this.#last = { program, atMs };
  }

  hasOther(program: ProgramId, nowMs: number): boolean {
    const other = this.#last?.program === program ? this.#before : this.#last;
    return other !== undefined && nowMs - other.atMs < RECENT_MS;
  }
}
