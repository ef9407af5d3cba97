import type { CallId, Scheduler, WaitView } from '../src/index.js';

/** Time for which a reading is good, for each call that waits. One takes 4 µs a call, so at most 1 % of a core. */
const GOOD_MS_PER_CALL = 0.4;

/** Why calls wait, for the comments of queued streams. Read for all calls at once, and less often the more they are. */
export class Waiting {
  #waits: ReadonlyMap<CallId, WaitView> = new Map();
  #goodUntilMs = -Infinity;

  constructor(
    private readonly scheduler: { readonly views: Pick<Scheduler['views'], 'waits'> },
    private readonly now: () => number,
  ) {}

  /** Undefined: it does not wait, or it did not at the last reading. */
  of(call: CallId): WaitView | undefined {
    const now = this.now();
    if (now >= this.#goodUntilMs) {
      this.#waits = new Map(this.scheduler.views.waits());
      this.#goodUntilMs = now + this.#waits.size * GOOD_MS_PER_CALL;
    }
    return this.#waits.get(call);
  }
}
