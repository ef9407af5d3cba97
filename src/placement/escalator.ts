import type { Call } from '../programs/call.js';
import { deadlinesOf, earliest, reachedBy, type Deadlines } from '../programs/escalation.js';
import { Timers } from '../queues/timers.js';
import { strandedAtMs } from './eligible.js';
import type { Placement } from './placement.js';

/** The timers of waiting calls: each moves a call to its next states as they fall due. */
export class Escalator {
  readonly #timers = new Timers<Call>();

  constructor(
    private readonly placement: Placement,
    private readonly totals: Record<'promotions' | 'overdue', number>,
  ) {}

  get nextAtMs(): number {
    return this.#timers.peek()?.timerAtMs ?? Infinity;
  }

  watch(call: Call): void {
    this.#timers.set(call, earliest(this.#deadlines(call)));
  }

  forget(call: Call): void {
    this.#timers.set(call, Infinity);
  }

  /** Escalates calls whose timers are due, up to the first that is to be refused; undefined once none is left. */
  refused(nowMs: number): { readonly call: Call; readonly refusal: 'queue_timeout' | 'no_engine' } | undefined {
    for (let call = this.#timers.peek(); call !== undefined && call.timerAtMs <= nowMs; call = this.#timers.peek()) {
      const reached = reachedBy(this.#deadlines(call), nowMs);
      // Nothing is reached when its window has started anew since its timer was set.
      if (reached === 'timedOut') return { call, refusal: 'queue_timeout' };
      if (reached === 'stranded') return { call, refusal: 'no_engine' };
      if (reached === 'overdue' || reached === 'promoted') this.#promote(call, reached === 'overdue', nowMs);
      else if (reached === 'aged') this.placement.search.age(call);
      else if (reached === 'stealable') this.placement.makeStealable(call);
      else if (reached === 'retriable') {
        call.retryAtMs = -Infinity;
        this.placement.replace(call);
      }
      this.watch(call);
    }
    return undefined;
  }

  #promote(call: Call, isOverdue: boolean, nowMs: number): void {
    this.totals.promotions += 1;
    if (isOverdue) this.totals.overdue += 1;
    call.promoted = true;
    call.program.restartWindow(nowMs);
    this.placement.promote(call, isOverdue);
  }

  #deadlines(call: Call): Deadlines {
    const { engineTable, rules } = this.placement;
    const { config, balancer } = rules;
    return deadlinesOf(call, config, balancer, strandedAtMs(call, engineTable.pool(call.model)));
  }
}
