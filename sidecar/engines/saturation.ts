import type { ProgramId } from '../../src/index.js';

/** First rest of an engine that names no time, the shortest rest, and the longest. */
const REST_MS = 500;
const REST_MS_MIN = 50;
const REST_MS_MAX = 8000;
/** Time for which an answer to a program indicates the engine's room. */
const RECENT_MS = 5000;

/**
 * Judges answers that report "no room": either the engine rests, or the answer concerns one caller alone. Rests double
 * while the engine serves no call between them. None exceeds 8 s, even on request, because all callers wait for it.
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
   * The engine reported "no room". A refusal during a rest comes from a call that was already in flight, so it does not
   * extend the rest.
   * @param isSingling whether the answer may concern one caller: 429
   * @param askedMs its `Retry-After`
   * @returns milliseconds to rest; undefined: other programs are served and not refused, so the answer concerns this
   * caller
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
