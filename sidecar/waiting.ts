import type { CallId, Scheduler, WaitView } from '../src/index.js';

/** Most of the process's time that readings may take: each is good for as long as that asks. */
const BUSY_SHARE = 0.01;

/** Why calls wait, for the comments of queued streams. Read for all calls at once, and less often the longer it takes. */
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
      this.#goodUntilMs = now + (this.now() - now) / BUSY_SHARE;
    }
    return this.#waits.get(call);
  }
}
