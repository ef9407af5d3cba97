import type { CallId, QueueView, Views, WaitView } from '../../src/index.js';

/** Most of the process's time that readings of all waiting calls may take in the long run. */
const BUSY_SHARE = 0.01;
/** Share that they may take at once, after a pause. */
const BURST_MS = 100;

/** Why calls wait, read for all of them at once: afresh each time, unless that took too much of the process's time. */
export class Waiting {
  readonly #waits: () => ReadonlyMap<CallId, WaitView>;
  readonly queue: () => QueueView;

  constructor(views: () => Pick<Views, 'waits' | 'queue'>, now: () => number) {
    this.#waits = thrifty(() => new Map(views().waits()), now);
    this.queue = thrifty(() => views().queue(), now);
  }

  /** Undefined: it does not wait, or it did not at the last reading. */
  of(call: CallId): WaitView | undefined {
    return this.#waits().get(call);
  }
}

/** A new reading, or the last one while readings have taken more than their share of the time. */
function thrifty<T>(read: () => T, now: () => number): () => T {
  let last: { readonly value: T } | undefined;
  let budgetMs = BURST_MS;
  let askedAtMs = -Infinity;
  return () => {
    const nowMs = now();
    budgetMs = Math.min(BURST_MS, budgetMs + BUSY_SHARE * (nowMs - askedAtMs));
    askedAtMs = nowMs;
    if (last === undefined || budgetMs > 0) {
      last = { value: read() };
      budgetMs -= now() - nowMs;
    }
    return last.value;
  };
}
