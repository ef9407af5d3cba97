import type { AgentProgram } from '../../workloads/index.js';
import { Sample } from './sample.js';

/** Values kept of each measure: 8 MiB. Of more, quantiles are estimates. */
const VALUES_MAX = 2 ** 20;
/** Names of shared texts and ids of blocks that are remembered. */
const NAMES_MAX = 10_000;
const BLOCKS_MAX = 4_000_000;

/** Statistics of a trace's programs, in bounded memory. */
export class TraceSummary {
  programs = 0;
  calls = 0;
  /** Root threads, and threads of sub-agents. */
  threads = 0;
  promptTokens = 0;
  /** Those of them that an earlier call already had, in its prompt or its answer. */
  sharedTokens = 0;
  readonly callsAProgram = new Sample(0, VALUES_MAX);
  readonly promptTokensACall = new Sample(0, VALUES_MAX);
  readonly outputTokensACall = new Sample(0, VALUES_MAX);
  /** Gaps before all calls except those that open their programs. */
  readonly gapMs = new Sample(0, VALUES_MAX);
  /** Longest length seen of each shared text. */
  readonly #names = new Map<string, number>();
  readonly #blocks = new Set<number>();

  add({ calls }: AgentProgram): void {
    this.programs += 1;
    this.calls += calls.length;
    this.threads += new Set(calls.map(({ thread }) => thread)).size;
    this.callsAProgram.add(calls.length);
    for (const { after, gapMs, promptTokens, outputTokens, prefix } of calls) {
      this.promptTokens += promptTokens;
      this.promptTokensACall.add(promptTokens);
      this.outputTokensACall.add(outputTokens);
      if (after.length > 0) this.gapMs.add(gapMs);
      if (prefix === undefined) continue;
      if ('call' in prefix) this.sharedTokens += prefix.tokens;
      else if ('name' in prefix) this.sharedTokens += this.#takeName(prefix.name, prefix.tokens);
      else this.sharedTokens += Math.min(promptTokens, this.#takeBlocks(prefix.blocks) * prefix.blockTokens);
    }
  }

  #takeName(name: string, tokens: number): number {
    const known = this.#names.get(name) ?? 0;
    if (tokens > known && (known > 0 || this.#names.size < NAMES_MAX)) this.#names.set(name, tokens);
    return Math.min(known, tokens);
  }

  /** Number of leading blocks seen before. */
  #takeBlocks(blocks: readonly number[]): number {
    const fresh = blocks.findIndex((id) => !this.#blocks.has(id));
    for (const id of blocks) {
      if (this.#blocks.size >= BLOCKS_MAX) break;
      this.#blocks.add(id);
    }
    return fresh < 0 ? blocks.length : fresh;
  }
}
