import type { ProgramId } from '../../src/index.js';

/** The first rest of an engine that does not say how long it wants one, the shortest, and the longest. */
const REST_MS = 500;
const REST_MS_MIN = 50;
const REST_MS_MAX = 8000;
/** For how long an answer to a program says something of the engine's room. */
const RECENT_MS = 5000;

/**
 * Judges answers that say "no room": how long the engine rests, or that one caller alone is meant. Rests double while
 * the engine serves nobody between them. None is longer than 8 s, whatever it asks for: all its callers wait for it.
 */
export class Saturation {
  #rests = 0;
  #restsUntilMs = -Infinity;
  readonly #served = new LastTwo();
  readonly #refused = new LastTwo();

  /** The engine served a call of the program. */
  served(program: ProgramId, nowMs: number): void {
    this.#rests = 0;
    this.#served.note(program, nowMs);
  }

  /**
   * The engine said "no room". Refusals during a rest are of the calls that were in flight before, and lengthen nothing.
   * @param isSingling whether the answer may be about one caller: 429
   * @param askedMs its `Retry-After`
   * @returns milliseconds to rest; undefined: others were served and are not refused, so the caller is meant
   */
  refused(program: ProgramId, isSingling: boolean, askedMs: number | undefined, nowMs: number): number | undefined {
    this.#refused.note(program, nowMs);
    if (isSingling && this.#served.hasOther(program, nowMs) && !this.#refused.hasOther(program, nowMs))
      return undefined;
    if (nowMs < this.#restsUntilMs) return Math.max(REST_MS_MIN, this.#restsUntilMs - nowMs);
    const restMs = Math.min(REST_MS_MAX, Math.max(REST_MS_MIN, askedMs ?? REST_MS) * 2 ** this.#rests++);
    this.#restsUntilMs = nowMs + restMs;
    return restMs;
  }
}

/** The last two programs to which something happened: enough to tell whether it happened to another one. */
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
