import { graphOf, type Graph, type Outline } from './graph.js';
import type { BatchLine, Problem } from './lines.js';
import { originalsOf, requestOf } from './merge.js';
import { orderOf, sharedBlocks } from './order.js';
import { BLOCK_TOKENS, hashesOf, promptOf } from './prompt.js';

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

/** Assumed length of an answer without a limit. */
const OUTPUT_TOKENS = 256;

/** Tokens are those of one call. */
export function outlineOf(line: BatchLine, number: number): Outline {
  const { body, customId, needs, each } = line;
  const { blocks, tokens: promptTokens } = promptOf(line);
  const limits = [body['max_completion_tokens'], body['max_output_tokens'], body['max_tokens']];
  const limit = limits.find((given) => typeof given === 'number' && given >= 0 && Number.isFinite(given));
  const outputTokens = line.url.endsWith('/embeddings') ? 0 : ((limit as number | undefined) ?? OUTPUT_TOKENS);
  const asked = requestOf(line);
  const request = asked === undefined ? undefined : hashesOf(asked, asked.length)[0];
  return { customId, line: number, needs, calls: each?.max ?? 1, request, blocks, promptTokens, outputTokens };
}

/**
 * The plan of a batch, or the problems of its graph.
 * @yields often, so that the caller may do other work in between
 */
export function* planOf(
  lines: readonly Outline[],
  passes: readonly Pass[] = PASSES,
): Generator<void, Plan | readonly Problem[]> {
  const graph = yield* graphOf(lines);
  if (!('needs' in graph)) return graph;
  const own = Uint32Array.from(lines, (_, index) => index);
  const originals = passes.includes('merge') ? yield* originalsOf(lines, graph.needs, graph.sorted) : own;
  const blocks = lines.map((line) => line.blocks);
  const order = passes.includes('order') ? yield* orderOf({ blocks, critical: graph.critical }) : own;
  return { ...graph, originals, order };
}

/** Tokens at the beginnings of prompts that the call before has too, in this order. */
export function sharedTokens(lines: readonly Outline[], order: Iterable<number>): number {
  let tokens = 0;
  let before: Outline | undefined;
  for (const index of order) {
    const line = lines[index];
    if (line === undefined) continue;
    if (before !== undefined) tokens += BLOCK_TOKENS * sharedBlocks(before.blocks, line.blocks);
    before = line;
  }
  return tokens;
}
