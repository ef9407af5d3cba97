import type { SchedulerConfig } from '../config.js';
import { ThroughputTrend, type Completion } from './throughput-trend.js';

/**
 * The window: the number of calls that an engine may have in flight, which keeps the order here. It is fixed by config or
 * by the engine's own limit. Else it adapts by these signals:
 *
 *     load reports   the engine preempts, or a queue of more than w/8 stands         shrink
 *                    nothing waits there, and the window was full                    grow
 *     completions    of an engine without reports, while the window is full          grow or shrink, by `ThroughputTrend`
 *     a refusal      429 or 503, once for all calls that were in flight then         shrink, from the calls in flight
 *
 *     grow     w + max(1, w/8), not above `windowMax`
 *     shrink   w - max(1, w/8), not below `windowMin`
 *
 * The queue that stands is the lesser of the last two reports: prompts that wait a moment for their prefill are no sign of
 * a full engine. A little queue keeps the batch full between two of our dispatches. Until it first shrinks the window
 * doubles, and then halves once, as TCP's slow start does (RFC 5681, section 3.1): growing by eighths, it would leave an
 * engine of 256 slots half empty for the first minute.
 */
export class ConcurrencyLimit {
  size: number;
  readonly #adapts: boolean;
  readonly #most: number;
  #wasFull = false;
  #metLimit = false;
  #waiting = 0;
  /** The engine's running total in its last report; undefined before the first report. */
  #preemptions: number | undefined;
  #reports = false;
  readonly #trend = new ThroughputTrend();
  /** Time of the last move. Calls dispatched earlier ran under another size and are ignored. */
  #movedAtMs = -Infinity;

  constructor(
    private readonly config: SchedulerConfig['admission'],
    private readonly engineMax: number | undefined,
  ) {
    const { window } = config;
    this.#most = engineMax ?? config.windowMax;
    this.#adapts = window === 'adaptive' || (window === 'auto' && engineMax === undefined);
    if (typeof window === 'number') this.size = Math.min(window, engineMax ?? window);
    else this.size = this.#adapts ? Math.min(config.windowInitial, this.#most) : this.#most;
  }

  /** Whether these settings yield the same limit, so that its state remains valid. */
  isMadeOf({ window, windowInitial, windowMin, windowMax }: SchedulerConfig['admission'], engineMax?: number): boolean {
    const { config } = this;
    const isSame = window === config.window && windowInitial === config.windowInitial;
    return isSame && windowMin === config.windowMin && windowMax === config.windowMax && engineMax === this.engineMax;
  }

  observe(inFlight: number): void {
    if (inFlight >= this.size) this.#wasFull = true;
  }

  /** @param waiting calls in the engine's own queue @param kvUsage 0 to 1 @param preemptions a running total */
  report(waiting = 0, kvUsage = 0, preemptions = this.#preemptions): void {
    // The first total covers the time before our start. A total that went down belongs to a restarted engine.
    const preempted = preemptions !== undefined && preemptions > (this.#preemptions ?? Infinity);
    this.#preemptions = preemptions;
    this.#reports = true;
    const standing = Math.min(waiting, this.#waiting);
    this.#waiting = waiting;
    if (preempted || standing > eighth(this.size)) this.#shrink();
    else if (this.#wasFull && waiting === 0 && kvUsage < 0.99) this.#grow();
    this.#wasFull = false;
  }

  /** A call has its answer. @param inFlight calls there, this one included */
  completed(completion: Completion, inFlight: number): void {
    if (this.#reports || inFlight < this.size || completion.dispatchedAtMs < this.#movedAtMs) return;
    const verdict = this.#trend.completed(this.size, completion);
    if (verdict === undefined) return;
    this.#movedAtMs = completion.endedAtMs;
    if (verdict === 'grow') this.#grow();
    else this.#shrink();
  }

  /** The engine refused a call for lack of room. @param inFlight calls there, this one included */
  refused(dispatchedAtMs: number, nowMs: number, inFlight: number): void {
    if (dispatchedAtMs < this.#movedAtMs) return;
    this.#movedAtMs = nowMs;
    this.#shrink(Math.min(inFlight, this.size));
  }

  #grow(): void {
    if (this.#adapts) this.size = Math.min(this.#most, this.size + (this.#metLimit ? eighth(this.size) : this.size));
  }

  #shrink(from = this.size): void {
    if (!this.#adapts) return;
    const least = Math.min(this.config.windowMin, this.#most);
    this.size = Math.max(least, from - (this.#metLimit ? eighth(from) : from >> 1));
    this.#metLimit = true;
  }
}

const eighth = (size: number): number => Math.max(1, size >> 3);
