import { PAUSE_STEPS } from './graph.js';

/** Beginnings of prompts, and the lengths of the ways behind them. */
interface Given {
  readonly blocks: readonly Float64Array[];
  readonly critical: Float64Array;
}

/** Both maxima fit into a double together. */
const INDEX_MAX = 2_097_152;
const CRITICAL_MAX = 2_147_483_648;
/** Depth of prompts that have no further block. */
const ENDED = Infinity;

/**
 * The order of a depth-first walk over the tree of all beginnings, so that prompts that share one are neighbours. Of
 * the children of a node, the one with the longest critical path goes first (Helium's templated radix tree).
 */
export function* orderOf({ blocks, critical }: Given): Generator<void, Uint32Array> {
  const order = new Uint32Array(blocks.length);
  let placed = 0;
  let steps = 0;
  // Groups keep this order, so the first member of each is its most critical one.
  const groups = [{ members: yield* byCritical(critical), depth: 0 }];
  yield;
  for (let group = groups.pop(); group !== undefined; group = groups.pop()) {
    const { members } = group;
    const first = blocks[members[0] ?? 0];
    if (members.length === 1 || first === undefined || group.depth === ENDED) {
      for (const index of members) order[placed++] = index;
      if (++steps % PAUSE_STEPS === 0) yield;
      continue;
    }
    let { depth } = group;
    const isShared = (at: number): boolean => members.every((index) => blocks[index]?.[at] === first[at]);
    for (; depth < first.length && isShared(depth); depth++) if (members.length > PAUSE_STEPS) yield;
    const children = new Map<number | undefined, number[]>();
    for (const index of members) {
      if (++steps % PAUSE_STEPS === 0) yield;
      const block = blocks[index]?.[depth];
      const child = children.get(block);
      if (child === undefined) children.set(block, [index]);
      else child.push(index);
    }
    yield;
    for (const [block, child] of [...children].reverse())
      groups.push({ members: child, depth: block === undefined ? ENDED : depth + 1 });
  }
  return order;
}

/** All indexes, the one with the longest way first. */
function* byCritical(critical: Float64Array): Generator<void, readonly number[]> {
  if (critical.length > INDEX_MAX) throw new RangeError(`at most ${INDEX_MAX} lines`);
  const keys = new Float64Array(critical.length);
  for (const [index, length] of critical.entries())
    keys[index] = (CRITICAL_MAX - Math.min(CRITICAL_MAX, Math.round(length))) * INDEX_MAX + index;
  yield;
  keys.sort();
  yield;
  const indexes: number[] = [];
  for (const key of keys) indexes.push(key % INDEX_MAX);
  return indexes;
}

/** Blocks at the beginning of both. */
export function sharedBlocks(a: Float64Array, b: Float64Array): number {
  let shared = 0;
  while (shared < a.length && shared < b.length && a[shared] === b[shared]) shared++;
  return shared;
}
