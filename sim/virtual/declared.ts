import { tokens, type Work } from '../../src/index.js';
import type { AgentCall, AgentProgram } from '../../workloads/index.js';
import type { Draws } from './draws.js';
import type { Job } from './job.js';

/** What clients declare of their programs: the true rest, or one that is wrong by a factor of the program's own. */
export class Declarations {
  readonly #rests = new WeakMap<AgentProgram, readonly Rest[]>();

  /** @param spread largest factor by which a declaration is too long or too short, 1 or more */
  constructor(
    private readonly spread: number,
    private readonly draws: Draws,
  ) {}

  /** Work from this call to the last of its program, in the order of its calls. */
  remaining(job: Job): Work {
    const { program } = job.played.run;
    let rests = this.#rests.get(program);
    if (rests === undefined) this.#rests.set(program, (rests = restsOf(program.calls)));
    const { promptTokens, outputTokens } = rests[job.index] as Rest;
    const factor = this.#factorOf(job);
    return {
      promptTokens: tokens(Math.round(promptTokens * factor)),
      outputTokens: tokens(Math.round(outputTokens * factor)),
    };
  }

  /** Time from the last answer to this call. */
  gapMs(job: Job): number {
    return job.call.gapMs * this.#factorOf(job);
  }

  #factorOf(job: Job): number {
    return Math.exp((2 * this.draws.ofProgram('declared', job) - 1) * Math.log(this.spread));
  }
}

interface Rest {
  readonly promptTokens: number;
  readonly outputTokens: number;
}

function restsOf(calls: readonly AgentCall[]): Rest[] {
  const rests: Rest[] = [];
  let promptTokens = 0;
  let outputTokens = 0;
  for (const call of calls.toReversed()) {
    promptTokens += call.promptTokens - keptTokensOf(call);
    outputTokens += call.outputTokens;
    rests.push({ promptTokens, outputTokens });
  }
  return rests.reverse();
}

/** Prompt tokens that the call shares with an earlier prompt. */
export const keptTokensOf = ({ promptTokens, prefix }: AgentCall): number =>
  prefix !== undefined && 'tokens' in prefix ? Math.min(prefix.tokens, promptTokens) : 0;
