import type { CallId, WaitCause, WaitView } from '../../src/index.js';

/** The causes of the wait of each call in the system, as far as it was looked at. */
export class WaitCauses {
  readonly #seen = new Map<CallId, Map<WaitCause, number>>();

  /** Looks at the waiting calls: what each has waited since its last look counts for its present cause. */
  observe(waits: Iterable<readonly [CallId, Pick<WaitView, 'cause' | 'waitingMs'>]>): void {
    for (const [call, { cause, waitingMs }] of waits) {
      const seen = this.#seen.get(call) ?? new Map<WaitCause, number>();
      const toldMs = [...seen.values()].reduce((sum, ms) => sum + ms, 0);
      if (waitingMs <= toldMs) continue;
      this.#seen.set(call, seen.set(cause, (seen.get(cause) ?? 0) + waitingMs - toldMs));
    }
  }

  /** Milliseconds by cause of a call that ends, which is then forgotten. */
  take(call: CallId): ReadonlyMap<WaitCause, number> {
    const seen = this.#seen.get(call) ?? new Map<never, never>();
    this.#seen.delete(call);
    return seen;
  }
}
