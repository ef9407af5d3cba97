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
  /** Its place among all programs of the run: the same under every policy. */
  readonly index: number;
  readonly run: ProgramRun;
  readonly layout: Layout;
  /** Service that its calls will still take, where an oracle is told. */
  leftMs: number;
}

/** One call from its arrival to its end, as its engine and the world see it, however often it is asked. */
export class Job implements Work {
  /** The scheduler's name for its last request, in order of arrival: a place among the calls of its program would tell of those to come. */
  id: CallId = callId('');
  readonly call: AgentCall;
  /** When it was asked first. */
  arrivedMs = NaN;
  /** When the gateway gave it to its engine. */
  dispatchedMs = NaN;
  /** How often it was asked and dispatched, and asked again of those that an SDK counts as one. */
  requests = 0;
  dispatches = 0;
  retries = 0;
  /** Whether its client reads the answer as it comes. */
  streams = true;
  /** Length of the prompt as it is asked: more than `promptTokens` until an engine refuses an over-long one. */
  askedTokens: number;
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
    this.askedTokens = this.call.promptTokens;
    // An engine says at least one token, and ends the answer where its context does.
    this.outputTokens = Math.max(1, Math.min(this.call.outputTokens, contextTokensMax - this.call.promptTokens));
  }

  get promptTokens(): number {
    return this.call.promptTokens;
  }

  /** An engine takes it. */
  begin(): void {
    this.started = false;
    this.toldTokens = 0;
    this.toldMs = -Infinity;
    this.blockHashes = this.played.layout.blocks(this.index, this.promptTokens + this.outputTokens);
  }

  dropBlocks(): void {
    this.played.layout.texts.giveBack(this.blockHashes);
    this.blockHashes = NO_BLOCKS;
  }
}
