import { paced, PAUSE_STEPS } from './graph.js';

/** Depth of prompts that have no further block. */
const ENDED = Infinity;

/**
 * The order of a depth-first walk over the tree of all beginnings, so that prompts that share one are neighbours. Of
 * the children of a node, the one with the longest critical path goes first (Helium's templated radix tree).
 * @param critical lengths of the ways behind the prompts
 */
export function* orderOf(blocks: readonly Float64Array[], critical: Float64Array): Generator<void, Uint32Array> {
  const order = new Uint32Array(blocks.length);
  let placed = 0;
  // Groups keep this order, so the first member of each is its most critical one.
  const all = Uint32Array.from(blocks.keys()).sort((a, b) => (critical[b] ?? 0) - (critical[a] ?? 0) || a - b);
  yield;
  const groups = [{ members: [...all], depth: 0 }];
  let steps = 0;
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
    yield* paced(members, (index) => {
      const block = blocks[index]?.[depth];
      const child = children.get(block);
      if (child === undefined) children.set(block, [index]);
      else child.push(index);
    });
    yield;
    for (const [block, child] of [...children].reverse())
      groups.push({ members: child, depth: block === undefined ? ENDED : depth + 1 });
  }
  return order;
}
