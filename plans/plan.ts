import { graphOf, type Graph, type Outline } from './graph.js';
import type { BatchLine, Problem } from './lines.js';
import { orderOf, sharedBlocks } from './order.js';
import { BLOCK_TOKENS, promptOf } from './prompt.js';

export type { Outline } from './graph.js';

/** A checked batch. Lines are numbered from 0 in the order of the file. */
export interface Plan extends Graph {
  /** All lines, in the order in which to start them once they have what they need. */
  readonly order: Uint32Array;
}

/** Assumed length of an answer without a limit. */
const OUTPUT_TOKENS = 256;

export function outlineOf(line: BatchLine, number: number): Outline {
  const { body, customId, needs } = line;
  const { blocks, tokens } = promptOf(line);
  const limits = [body['max_completion_tokens'], body['max_output_tokens'], body['max_tokens']];
  const limit = limits.find((each) => typeof each === 'number' && each >= 0 && Number.isFinite(each));
  const outputTokens = line.url.endsWith('/embeddings') ? 0 : ((limit as number | undefined) ?? OUTPUT_TOKENS);
  return { customId, line: number, needs, blocks, promptTokens: tokens, outputTokens };
}

/**
 * The plan of a batch, or the problems of its graph.
 * @yields often, so that the caller may do other work in between
 */
export function* planOf(lines: readonly Outline[]): Generator<void, Plan | readonly Problem[]> {
  const graph = yield* graphOf(lines);
  if (!('needs' in graph)) return graph;
  const blocks = lines.map((line) => line.blocks);
  return { ...graph, order: yield* orderOf({ blocks, critical: graph.critical }) };
}

/** Tokens at the beginnings of prompts that the call before has too, in this order. */
export function sharedTokens(lines: readonly Outline[], order: Iterable<number>): number {
  let tokens = 0;
  let before: Outline | undefined;
  for (const index of order) {
    const line = lines[index];
    if (line !== undefined && before !== undefined) tokens += BLOCK_TOKENS * sharedBlocks(before.blocks, line.blocks);
    before = line;
  }
  return tokens;
}
