import type { Call } from './call.js';
import type { Engine } from './engine.js';
import { FitTree } from './fit-tree.js';
import { Lane } from './lane.js';
import type { ModelId } from './units.js';

/**
 * The engines that serve one model, and the calls for it that are not bound to one of them.
 *
 *     pool "m"      anywhere   ─ short calls, calls without a home           (late binding: placed when they run)
 *                   spillable  ─ calls of `pinned` below that have waited long enough to leave
 *       engine A    pinned     ─ long calls of programs whose cache A holds
 *       engine B    pinned     ─ ...
 *
 * An engine with room looks at its own `pinned` and its pools' `anywhere`, in order of (level, rank, seq), and at
 * `spillable` only when nothing else fits. A call bound to a full engine is never looked at by another, however many
 * such calls there are.
 */
export class Pool {
  /** In order of joining, whatever their state. */
  engines: readonly Engine[] = [];
  /** Those of them that are up. */
  live: readonly Engine[] = [];
  readonly anywhere = new Lane();
  readonly spillable = new FitTree<Call>();

  constructor(readonly model: ModelId) {}

  /** What the call counts in the working set of an engine that holds nothing of its program: of those that count it least. */
  heldTokens(call: Call): number {
    const held = this.live.map(({ residency }) => residency.heldTokens(call, call.needTokens));
    return held.length === 0 ? call.needTokens : Math.min(...held);
  }

  /** Reads the engines' states anew. */
  refresh(): void {
    this.live = this.engines.filter((engine) => engine.state === 'up');
  }
}
