import type { Call } from '../programs/call.js';
import type { Engine } from '../engines/engine.js';
import { DrainRate } from './drain-rate.js';
import { FitTree } from './fit-tree.js';
import { WaitQueue } from './wait-queue.js';
import type { ModelId } from '../protocol/units.js';

/**
 * The engines that serve one model, and the calls for it that are not bound to one of them.
 *
 *     pool "m"      unbound    ─ short calls, calls without a home           (late binding: placed when they run)
 *                   stealable  ─ calls of `bound` below that have waited long enough to leave
 *       engine A    bound     ─ long calls of programs whose cache A holds
 *       engine B    bound     ─ ...
 *
 * An engine with room looks at its own `bound` and its pools' `unbound`, in order of (level, rank, seq), and at
 * `stealable` only when nothing else fits. A call bound to a full engine is never looked at by another, however many
 * such calls there are.
 */
export class ModelPool {
  /** In order of joining, whatever their state. */
  engines: readonly Engine[] = [];
  /** Those of them that are up. */
  live: readonly Engine[] = [];
  readonly unbound = new WaitQueue();
  readonly stealable = new FitTree<Call>();
  /** Calls for the model that wait, wherever they do. */
  waiting = 0;
  readonly drainRate = new DrainRate();

  constructor(readonly model: ModelId) {}

  /** What the call counts in the working set of an engine that holds nothing of its program: of those that count it least. */
  countedTokens(call: Call): number {
    const held = this.live.map(({ workingSet }) => workingSet.countedTokens(call, call.needTokens));
    return held.length === 0 ? call.needTokens : Math.min(...held);
  }

  /** Reads the engines' states anew. */
  refresh(): void {
    const live = this.engines.filter((engine) => engine.state === 'up');
    if (live.length !== this.live.length || live.some((engine, index) => engine !== this.live[index]))
      this.drainRate.reset();
    this.live = live;
  }
}
