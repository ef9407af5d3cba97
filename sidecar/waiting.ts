import type { CallId, Scheduler, WaitView } from '../src/index.js';

/** Calls whose wait is read in a millisecond of real time, on average: 1 to 2 % of a core. */
const READ_PER_MS = 10;
/** Longest time for which a reading is good. */
const GOOD_MS_MAX = 1000;

/** Why calls wait, for the comments of queued streams. Read for all calls at once, and less often the more they are. */
export class Waiting {
  #waits: ReadonlyMap<CallId, WaitView> = new Map();
  #goodUntilMs = -Infinity;

  constructor(
    private readonly scheduler: Scheduler,
    private readonly now: () => number,
  ) {}

  /** Undefined: it does not wait, or has waited for less than a second. */
  of(call: CallId): WaitView | undefined {
    const now = this.now();
    if (now >= this.#goodUntilMs) {
      this.#waits = new Map(this.scheduler.views.waits());
      this.#goodUntilMs = now + Math.min(GOOD_MS_MAX, this.#waits.size / READ_PER_MS);
    }
    return this.#waits.get(call);
  }
}
