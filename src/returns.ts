import type { Call } from './call.js';

/** Weight of one outcome in the running share. */
const WEIGHT = 1 / 32;
/** Calls that a program has made, in classes: 1, 2, 3-4, more. */
const CLASSES = 4;
/** What is believed before anything was seen: a first call is often the only one, a program that went on goes on. */
const PRIOR_FIRST = 0.25;
const PRIOR = 0.9;

/** A kind of idle context, for which returns are counted apart. */
export type ReturnClass = number;

/**
 * How likely an idle context is used again where it lies, learnt from what happened to those before it.
 *
 * Without this the gate would hold as much cache for a finished one-shot request as for an agent that is running a
 * tool, and one-shot traffic would run at a fraction of the engine's speed: at 5 s a call and a half-life of 20 s, six
 * sevenths of the working set would be programs that never come back. A context counts as returned when its thread
 * runs on that engine again within two half-lives. Classes: calls made so far, whether the answer called a tool, and whether
 * the call was sent home or spread.
 */
export class Returns {
  readonly #share: number[] = Array.from({ length: CLASSES * 4 }, (_, index) =>
    index % CLASSES === 0 ? PRIOR_FIRST : PRIOR,
  );

  classOf(call: Call, calledTool: boolean, atHome: boolean): ReturnClass {
    const { callsTotal } = call.program;
    const made = callsTotal <= 2 ? callsTotal - 1 : callsTotal <= 4 ? 2 : 3;
    return made + CLASSES * ((calledTool ? 2 : 0) + (atHome ? 1 : 0));
  }

  /** Expected share, 0 to 1. */
  share(kind: ReturnClass): number {
    return this.#share[kind] ?? 0;
  }

  learn(kind: ReturnClass, returned: boolean): void {
    const share = this.share(kind);
    this.#share[kind] = share + WEIGHT * ((returned ? 1 : 0) - share);
  }
}
