import { callId, type CallId } from '../../src/index.js';
import type { Work } from '../engine/sequence.js';
import type { AgentCall } from '../../workloads/index.js';
import { type Layout, Spans } from './content.js';
import type { ProgramRun } from './program-run.js';

const NO_BLOCKS = new Spans();

/** A program under way, with the contents of its prompts. */
export interface Played {
  /** The scheduler's id for it, unique in the run. */
  readonly id: string;
  /** Its index among all programs of the run: the same under every policy. */
  readonly index: number;
  readonly run: ProgramRun;
  readonly layout: Layout;
  /** Service of the calls that remain, when an oracle is told. */
  leftMs: number;
}

/** One call from its arrival to its end, as its engine and the world see it, over all its requests. */
export class Job implements Work {
  /**
   * The scheduler's id for its last request, in order of arrival. An index among its program's calls would reveal those
   * to come.
   */
  id: CallId = callId('');
  readonly call: AgentCall;
  arrivedMs = NaN;
  dispatchedMs = NaN;
  /** Number of requests, of dispatches, and of the retries that an SDK counts together. */
  requests = 0;
  dispatches = 0;
  retries = 0;
  /** Whether its client reads the answer as it comes. */
  streams = true;
  /** Prompt length as requested: more than `promptTokens` until an engine refuses an over-long prompt. */
  askedTokens: number;
  engine: string | undefined;
  failsLoad = false;
  started = false;
  readonly outputTokens: number;
  /** Set only while an engine has the call, as very many may wait. */
  blockHashes = NO_BLOCKS;

  constructor(
    readonly played: Played,
    readonly index: number,
    contextTokensMax: number,
  ) {
    this.call = played.run.program.calls[index] as AgentCall;
    this.askedTokens = this.call.promptTokens;
    // An engine generates at least one token, and ends the answer at its context limit.
    const mostTokens = contextTokensMax - this.call.promptTokens;
    this.outputTokens = Math.max(1, Math.min(this.call.outputTokens, mostTokens));
  }

  get promptTokens(): number {
    return this.call.promptTokens;
  }

  begin(): void {
    this.started = false;
    this.blockHashes = this.played.layout.blocks(this.index, this.promptTokens + this.outputTokens);
  }

  dropBlocks(): void {
    this.played.layout.texts.giveBack(this.blockHashes);
    this.blockHashes = NO_BLOCKS;
  }
}
