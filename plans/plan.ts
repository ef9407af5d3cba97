import { graphOf, paced, type Graph } from './graph.js';
import type { Problem } from './line.js';
import { orderOf } from './order.js';
import { BLOCK_TOKENS, type Outline } from './outline.js';

/** Passes that a plan can do without: `merge` asks equal lines once, `order` puts shared beginnings side by side. */
export const PASSES = ['merge', 'order'] as const;
export type Pass = (typeof PASSES)[number];

/** A checked batch. Lines are numbered from 0 in the order of the file. */
export interface Plan extends Graph {
  /** All lines, in the order in which to start them once they have what they need. */
  readonly order: Uint32Array;
  /** For each line the one that is asked in its place, mostly itself. */
  readonly originals: Uint32Array;
}

/** @param faults of other lines of the file: all are thrown together @yields often, for other work in between @throws FaultyBatch */
export function* planOf(lines: readonly Outline[], passes: readonly Pass[] = PASSES, faults: readonly Problem[] = []) {
  const graph = yield* graphOf(lines, faults);
  const own = Uint32Array.from(lines.keys());
  const originals = passes.includes('merge') ? yield* originalsOf(lines, graph) : own;
  const blocks = lines.map((line) => line.blocks);
  const order = passes.includes('order') ? yield* orderOf(blocks, graph.critical) : own;
  return { ...graph, originals, order };
}

/** For each line the first that asks the same by its hash (Helium's common subexpressions): whoever copies an answer compares the texts. */
function* originalsOf(lines: readonly Outline[], { needs, sorted }: Graph): Generator<void, Uint32Array> {
  const originals = Uint32Array.from(lines.keys());
  const firsts = new Map<string, number>();
  yield* paced(sorted, (index) => {
    const { request } = lines[index] ?? {};
    if (request === undefined) return;
    const key = [request, ...(needs[index] ?? []).map((need) => originals[need])].join();
    const first = firsts.get(key);
    if (first === undefined) firsts.set(key, index);
    else originals[index] = first;
  });
  return originals;
}

/** Blocks at the beginning of both. */
function sharedBlocks(a: Float64Array, b: Float64Array): number {
  const end = a.findIndex((block, at) => block !== b[at]);
  return end < 0 ? a.length : end;
}

/** Tokens at the beginnings of prompts that the call before has too, in this order. */
export function sharedTokens(lines: readonly Outline[], order: Iterable<number>): number {
  let tokens = 0;
  let before: Outline | undefined;
  for (const index of order) {
    const line = lines[index];
    if (before && line) tokens += BLOCK_TOKENS * sharedBlocks(before.blocks, line.blocks);
    before = line;
  }
  return tokens;
}
