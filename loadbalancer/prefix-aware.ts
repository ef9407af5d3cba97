import { LRUCache } from 'lru-cache';
import type { Balancer, Candidate, EngineId, Placeable } from '../src/index.js';
import { leastLoadedOf } from './least-loaded.js';

/** Prefix blocks remembered for each engine. A bound on size, unlike one on entries, allocates nothing up front. */
const BLOCKS = { maxSize: 65_536, sizeCalculation: () => 1 };
/** Least share of a prompt's blocks that an engine must match to be chosen for them. */
const MATCH_SHARE_MIN = 0.5;
/** An engine is overloaded when its calls exceed those of the idlest engine by this many and by this factor. */
const IMBALANCE_CALLS = 16;
const IMBALANCE_RATIO = 1.5;

/**
 * Cache-aware routing as in SGLang's model gateway: the engine that was sent the longest matching prefix. The
 * least-loaded engine is chosen instead if less than half of the prompt matches, or if engines are out of balance.
 *
 * Block hashes are chained (each covers the whole prefix before it), so one flat LRU set an engine is its prefix tree.
 * The engine's actual cache is unknown; the sets hold the prompts that it was sent.
 */
export function prefixAware(): Balancer {
  const sent = new Map<EngineId, LRUCache<number, true>>();

  function matchedBlocks(call: Placeable, engine: Candidate): number {
    const blocks = sent.get(engine.id);
    if (blocks === undefined) return 0;
    const miss = call.prefix.findIndex((hash) => !blocks.has(hash));
    return miss < 0 ? call.prefix.length : miss;
  }

  function balanced(live: readonly Candidate[]): boolean {
    const counts = live.map((engine) => engine.inFlight);
    const least = Math.min(...counts);
    const most = Math.max(...counts);
    return most - least <= IMBALANCE_CALLS || most <= least * IMBALANCE_RATIO;
  }

  function bestMatch<E extends Candidate>(call: Placeable, live: readonly E[]): E | undefined {
    let best: E | undefined;
    let most = call.prefix.length * MATCH_SHARE_MIN;
    for (const engine of live) {
      const blocks = matchedBlocks(call, engine);
      if (blocks > most || (blocks === most && blocks > 0 && best === undefined)) [best, most] = [engine, blocks];
    }
    return best;
  }

  return {
    name: 'prefix-aware',
    spills: true,
    readsPrefix: true,
    place: (call, _home, live) => (balanced(live) ? bestMatch(call, live) : undefined),
    choose: (_call, open) => leastLoadedOf(open),
    binds: () => false,
    dispatched(call, engine) {
      let blocks = sent.get(engine.id);
      if (blocks === undefined) sent.set(engine.id, (blocks = new LRUCache(BLOCKS)));
      for (const hash of call.prefix) blocks.set(hash, true);
    },
    lost: (engine) => void sent.delete(engine.id),
  };
}
