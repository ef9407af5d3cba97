import type { CallId, Scheduler, WaitView } from '../src/index.js';

/** Most of the process's time that a reading of all waiting calls may take: it is good for as long as that asks. */
const BUSY_SHARE = 0.01;
/** A reading of the counts that is quicker than this is never used twice. */
const QUICK_MS = 1;

type Views = Pick<Scheduler['views'], 'waits' | 'waitCauses'>;

/** Why calls wait, for views. Read for all calls at once, and less often the longer that takes. */
export class Waiting {
  readonly #waits: () => ReadonlyMap<CallId, WaitView>;
  /** Number of waiting calls by cause, as of a moment ago. */
  readonly causes: () => ReturnType<Views['waitCauses']>;

  constructor({ views }: { readonly views: Views }, now: () => number) {
    this.#waits = seldom(() => new Map(views.waits()), now, 0);
    this.causes = seldom(() => views.waitCauses(), now, QUICK_MS);
  }

  /** Undefined: it does not wait, or it did not at the last reading. */
  of(call: CallId): WaitView | undefined {
    return this.#waits().get(call);
  }
}

/** The last reading, or a new one once that has been in use for long enough. */
function seldom<T>(read: () => T, now: () => number, quickMs: number): () => T {
  let last: { readonly value: T; readonly untilMs: number } | undefined;
  return () => {
    const sinceMs = now();
    if (last !== undefined && sinceMs < last.untilMs) return last.value;
    const value = read();
    const tookMs = now() - sinceMs;
    last = { value, untilMs: tookMs > quickMs ? sinceMs + tookMs / BUSY_SHARE : sinceMs };
    return value;
  };
}
