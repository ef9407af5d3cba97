import type { SetTimer } from '../../../sidecar/engines/index.js';

interface Timer {
  readonly at: number;
  readonly ms: number;
  readonly fn: () => void;
}

/** Timers that a test fires. */
export class ManualTimers {
  now = 0;
  readonly #timers = new Set<Timer>();

  readonly set: SetTimer = (fn, ms) => {
    const timer = { at: this.now + ms, ms, fn };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  };

  /** Delays of the pending timers. */
  get pending(): readonly number[] {
    return [...this.#timers].map((timer) => timer.ms);
  }

  advance(ms: number): void {
    const end = this.now + ms;
    for (;;) {
      const [next] = [...this.#timers].filter((timer) => timer.at <= end).sort((a, b) => a.at - b.at);
      if (next === undefined) break;
      this.#timers.delete(next);
      this.now = next.at;
      next.fn();
    }
    this.now = end;
  }
}

/** Waits for pending data on sockets. Fails the test after two minutes, as only what hangs takes so long. */
export async function until(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 120_000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error(`did not come true: ${condition.toString()}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
