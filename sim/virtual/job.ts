import { callId, type CallId } from '../../src/index.js';
import type { Work } from '../engine/sequence.js';
import type { AgentCall } from '../../workloads/index.js';
import type { Layout } from './content.js';
import type { ProgramRun } from './program-run.js';
import { Spans } from './spans.js';

const NO_BLOCKS = new Spans();

/** A program under way, with what its prompts consist of. */
export interface Played {
  /** The scheduler's name for it, unlike any other. */
  readonly id: string;
  readonly run: ProgramRun;
  readonly layout: Layout;
  /** Service that its calls will still take, where an oracle is told. */
  leftMs: number;
}

/** One call from its arrival to its end, as its engine and the world see it. */
export class Job implements Work {
  /** The scheduler's name for it, in order of arrival: a place among the calls of its program would tell of those to come. */
  id: CallId = callId('');
  readonly call: AgentCall;
  arrivedMs = NaN;
  dispatchedMs = NaN;
  engine: string | undefined;
  priority = 0;
  /** Whether its first token has been told of; how many tokens were told of last, and when. */
  started = false;
  toldTokens = 0;
  toldMs = -Infinity;
  readonly outputTokens: number;
  /** Only while an engine has it, as there may be very many that wait. */
  blockHashes = NO_BLOCKS;

  constructor(
    readonly played: Played,
    /** Its place among its program's calls. */
    readonly index: number,
    contextTokensMax: number,
  ) {
    this.call = played.run.program.calls[index] as AgentCall;
    // An engine says at least one token, and ends the answer where its context does.
    this.outputTokens = Math.max(1, Math.min(this.call.outputTokens, contextTokensMax - this.call.promptTokens));
  }

  get promptTokens(): number {
    return this.call.promptTokens;
  }

  /** Why no engine of this context takes it, whatever its load; undefined: they do. */
  refusal(contextTokensMax: number): 'too_long' | 'empty_prompt' | undefined {
    if (this.promptTokens < 1) return 'empty_prompt';
    return this.promptTokens >= contextTokensMax ? 'too_long' : undefined;
  }

  readBlocks(): void {
    this.blockHashes = this.played.layout.blocks(this.index, this.promptTokens + this.outputTokens);
  }

  dropBlocks(): void {
    this.played.layout.texts.giveBack(this.blockHashes);
    this.blockHashes = NO_BLOCKS;
  }
}
