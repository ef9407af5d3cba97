import { PAUSE_STEPS } from './graph.js';

/** Beginnings of prompts, and the lengths of the ways behind them. */
interface Given {
  readonly blocks: readonly Float64Array[];
  readonly critical: Float64Array;
}

/** Both fit into a double together. */
const INDEX_MAX = 2 ** 21;
const CRITICAL_MAX = 2 ** 31;

/**
 * The order of a depth-first walk over the tree of all beginnings, so that prompts that share one are neighbours. Of
 * the children of a node, the one with the longest critical path goes first (Helium's templated radix tree).
 */
export function* orderOf({ blocks, critical }: Given): Generator<void, Uint32Array> {
  const order = new Uint32Array(blocks.length);
  let placed = 0;
  let steps = 0;
  // Groups keep this order, so the first member of each is its most critical one.
  const groups = [{ members: byCritical(critical), depth: 0 }];
  for (let group = groups.pop(); group !== undefined; group = groups.pop()) {
    const { members } = group;
    const first = blocks[members[0] ?? 0];
    if (members.length === 1 || first === undefined) {
      for (const index of members) order[placed++] = index;
      if (++steps % PAUSE_STEPS === 0) yield;
      continue;
    }
    let { depth } = group;
    const isShared = (at: number): boolean => members.every((index) => blocks[index]?.[at] === first[at]);
    for (; depth < first.length && isShared(depth); depth++) if (members.length > PAUSE_STEPS) yield;
    const ended: number[] = [];
    const children = new Map<number, number[]>();
    for (const index of members) {
      const block = blocks[index]?.[depth];
      const child = block === undefined ? ended : children.get(block);
      if (child !== undefined) child.push(index);
      else if (block !== undefined) children.set(block, [index]);
    }
    for (const index of ended) order[placed++] = index;
    for (const child of [...children.values()].reverse()) groups.push({ members: child, depth: depth + 1 });
    steps += members.length;
    yield;
  }
  return order;
}

/** All indexes, the one with the longest way first. */
function byCritical(critical: Float64Array): readonly number[] {
  if (critical.length > INDEX_MAX) throw new RangeError(`at most ${INDEX_MAX} lines`);
  const keys = critical.map(
    (length, index) => (CRITICAL_MAX - Math.min(CRITICAL_MAX, Math.round(length))) * INDEX_MAX + index,
  );
  return Array.from(keys.sort(), (key) => key % INDEX_MAX);
}

/** Blocks at the beginning of both. */
export function sharedBlocks(a: Float64Array, b: Float64Array): number {
  let shared = 0;
  while (shared < a.length && shared < b.length && a[shared] === b[shared]) shared++;
  return shared;
}
