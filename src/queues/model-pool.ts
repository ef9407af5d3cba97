import type { Call } from '../programs/call.js';
import type { Engine } from '../engines/engine.js';
import { DrainRate } from './drain-rate.js';
import { TurnQueue } from './turn-queue.js';
import { WaitQueue } from './wait-queue.js';
import type { ModelId } from '../protocol/units.js';

/**
 * The engines that serve one model, and the calls for it that are not bound to one of them.
 *
 *     pool "m"      unbound    ─ short calls, calls without a home           (late binding: placed when they run)
 *                   stealable  ─ calls of `bound` below that have waited long enough to leave
 *                   paused     ─ calls that engines have failed and none may run yet
 *                   oversized  ─ calls that every engine would refuse: they wait for an open one, not for room
 *       engine A    bound     ─ long calls of programs whose contexts A holds
 *       engine B    bound     ─ ...
 *
 * An engine with room looks at its own `bound` and its pools' `unbound`, in order of (level, rank, seq). It looks at
 * `stealable` only when nothing else fits. So calls bound to a full engine cost other engines nothing, however many.
 */
export class ModelPool {
  /** In order of joining, whatever their state. */
  engines: readonly Engine[] = [];
  live: readonly Engine[] = [];
  readonly unbound = new WaitQueue<Call>();
  readonly stealable = new TurnQueue<Call>((call) => call.countedTokens);
  readonly paused = new WaitQueue<Call>();
  readonly oversized = new WaitQueue<Call>();
  /** Number of waiting calls for the model, in all queues. */
  waiting = 0;
  readonly drainRate = new DrainRate();

  constructor(readonly model: ModelId) {}

  /** Least number of tokens that the call counts in the working set of any live engine; its need when none is live. */
  countedTokens(call: Call): number {
    const held = this.live.map(({ workingSet }) => workingSet.needs.countedTokens(call, call.needTokens));
    return held.length === 0 ? call.needTokens : Math.min(...held);
  }

  refresh(): void {
    const live = this.engines.filter((engine) => engine.state === 'up');
    if (live.length !== this.live.length || live.some((engine, index) => engine !== this.live[index]))
      this.drainRate.reset();
    this.live = live;
  }
}
