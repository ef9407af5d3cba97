import type { SchedulerConfig } from '../config.js';

/**
 * How many calls an engine may have in flight, so that order is decided here and not in the engine's own queue.
 *
 * Fixed by config or by the engine's own limit; else adaptive, on each load report:
 *   the engine preempts, or a queue of more than w/8 stands   ->  w - max(1, w/8), not below `windowMin`
 *   nothing waits there, and the window was full              ->  w + max(1, w/8), not above `windowMax`
 * In-flight counts are ours and never stale; the report only moves the limit (slowly, since it is). What stands is the
 * lesser of the last two reports: prompts that wait a moment for their prefill are no sign of a full engine, and a little queue
 * keeps the batch full between two of our dispatches. Until the first limit is met the window doubles, and halves there,
 * as TCP's slow start does (RFC 5681, section 3.1): by eighths it would keep an engine of 256 slots half empty for the
 * first minute.
 */
export class ConcurrencyLimit {
  #size: number;
  readonly #adapts: boolean;
  readonly #most: number;
  #wasFull = false;
  #metLimit = false;
  #waiting = 0;
  /** The engine's running total as last reported; undefined until it was. */
  #preemptions: number | undefined;

  constructor(
    private readonly config: SchedulerConfig['admission'],
    engineMax: number | undefined,
  ) {
    const { window } = config;
    this.#most = engineMax ?? config.windowMax;
    this.#adapts = window === 'adaptive' || (window === 'auto' && engineMax === undefined);
    if (typeof window === 'number') this.#size = Math.min(window, engineMax ?? window);
    else this.#size = this.#adapts ? Math.min(config.windowInitial, this.#most) : this.#most;
  }

  get size(): number {
    return this.#size;
  }

  /** Remembers that the window was full. */
  observe(inFlight: number): void {
    if (inFlight >= this.#size) this.#wasFull = true;
  }

  /** @param waiting the engine's own queue; `kvUsage` 0 to 1; `preemptions` a running total, all as the engine says. */
  report(waiting = 0, kvUsage = 0, preemptions = this.#preemptions): void {
    // The first total is of a life before ours, and one that went down is of an engine that has started anew.
    const preempted = preemptions !== undefined && preemptions > (this.#preemptions ?? Infinity);
    this.#preemptions = preemptions;
    const standing = Math.min(waiting, this.#waiting);
    this.#waiting = waiting;
    if (!this.#adapts) return;
    const eighth = Math.max(1, this.#size >> 3);
    const least = Math.min(this.config.windowMin, this.#most);
    if (preempted || standing > eighth) {
      this.#size = Math.max(least, this.#size - (this.#metLimit ? eighth : this.#size >> 1));
      this.#metLimit = true;
    } else if (this.#wasFull && waiting === 0 && kvUsage < 0.99)
      this.#size = Math.min(this.#most, this.#size + (this.#metLimit ? eighth : this.#size));
    this.#wasFull = false;
  }
}
