import { LRUCache } from 'lru-cache';
import type { Balancer, CallId, Candidate, EngineId } from '../../src/index.js';
import {
  leastLoadedOf,
  BALANCER_NAMES,
  makeBalancer,
  type BalancerName,
  type BalancerOptions,
} from '../../loadbalancer/index.js';

/** Prefix blocks remembered for each engine. A bound on size, unlike one on entries, allocates nothing up front. */
const BLOCKS = { maxSize: 65_536, sizeCalculation: () => 1 };
/** Least share of a prompt's blocks that an engine must match to be chosen for them. */
const MATCH_SHARE_MIN = 0.5;
/** An engine is overloaded when its calls exceed those of the idlest engine by this many and by this factor. */
const IMBALANCE_CALLS = 16;
const IMBALANCE_RATIO = 1.5;

/** Chained hashes of the leading blocks of a waiting call's prompt, first block first. */
export type PrefixOf = (call: CallId) => readonly number[];

/**
 * Cache-aware routing as in SGLang's model gateway: the engine that was sent the longest matching prefix. The
 * least-loaded engine is chosen instead if less than half of the prompt matches, or if engines are out of balance.
 *
 * Block hashes are chained (each covers the whole prefix before it), so one flat LRU set an engine is its prefix tree.
 * The engine's actual cache is unknown; the sets hold the prompts that it was sent.
 */
export function prefixAware(prefixOf: PrefixOf): Balancer {
  const sent = new Map<EngineId, LRUCache<number, true>>();

  function matchedBlocks(prefix: readonly number[], engine: Candidate): number {
    const blocks = sent.get(engine.id);
    if (blocks === undefined) return 0;
    const miss = prefix.findIndex((hash) => !blocks.has(hash));
    return miss < 0 ? prefix.length : miss;
  }

  function balanced(live: readonly Candidate[]): boolean {
    const counts = live.map((engine) => engine.inFlight);
    const least = Math.min(...counts);
    const most = Math.max(...counts);
    return most - least <= IMBALANCE_CALLS || most <= least * IMBALANCE_RATIO;
  }

  function bestMatch<E extends Candidate>(prefix: readonly number[], live: readonly E[]): E | undefined {
    let best: E | undefined;
    let most = prefix.length * MATCH_SHARE_MIN;
    for (const engine of live) {
      const blocks = matchedBlocks(prefix, engine);
      if (blocks > most || (blocks === most && blocks > 0 && best === undefined)) [best, most] = [engine, blocks];
    }
    return best;
  }

  return {
    name: 'prefix-aware',
    spills: true,
    place: (call, _home, live) => (balanced(live) ? bestMatch(prefixOf(call.id), live) : undefined),
    choose: (_call, open) => leastLoadedOf(open),
    binds: () => false,
    dispatched(call, engine) {
      let blocks = sent.get(engine.id);
      if (blocks === undefined) sent.set(engine.id, (blocks = new LRUCache(BLOCKS)));
      for (const hash of prefixOf(call.id)) blocks.set(hash, true);
    },
    lost: (engine) => void sent.delete(engine.id),
  };
}

/** Sends each call to the next engine in order of joining, regardless of its cost. */
export function roundRobin(): Balancer {
  let last = -1;
  return {
    name: 'round-robin',
    spills: true,
    place: () => undefined,
    choose<E extends Candidate>(_call: unknown, open: readonly E[]): E {
      const next = open.reduce((best, engine) => (turn(engine, last) < turn(best, last) ? engine : best));
      last = next.index;
      return next;
    },
    binds: () => false,
  };
}

/** Sort key: engines after the last one first, then round from the start. */
const turn = (engine: Candidate, last: number): number =>
  engine.index > last ? engine.index - Number.MAX_SAFE_INTEGER : engine.index;

/** Balancers that exist only in the simulator, to compare with. */
const PEERS = {
  'round-robin': roundRobin,
  'prefix-aware': prefixAware,
} satisfies Record<string, (prefixOf: PrefixOf) => Balancer>;

type PeerName = keyof typeof PEERS;
export type SimBalancerName = BalancerName | PeerName;

/** Every balancer that can be compared: the gateway's, then those of the simulator alone. */
export const SIM_BALANCERS = [...BALANCER_NAMES, ...Object.keys(PEERS)] as readonly SimBalancerName[];

export interface SimBalancerOptions extends Omit<BalancerOptions, 'name'> {
  readonly name: SimBalancerName;
}

/** A fresh balancer. @param prefixOf the beginning of a call's prompt, as the world knows it; absent: none is known */
export function makeSimBalancer(options: SimBalancerOptions, prefixOf: PrefixOf = () => []): Balancer {
  const { name } = options;
  return isPeer(name) ? PEERS[name](prefixOf) : makeBalancer({ ...options, name });
}

const isPeer = (name: SimBalancerName): name is PeerName => name in PEERS;
