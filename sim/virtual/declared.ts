import { tokens, type Work } from '../../src/index.js';
import type { AgentCall, AgentProgram } from '../../workloads/index.js';
import type { Conditions } from './conditions.js';
import type { Draws } from './draws.js';
import type { Job, Played } from './job.js';

const TRUE: NonNullable<Conditions['declarations']> = { spread: 1, mistakenShare: 0 };

/** Clients' declarations of their programs: the true rest, or a wrong one. */
export class Declarations {
  /** Each program's declarations, one entry a call. */
  readonly #declared = new WeakMap<Played, readonly Rest[]>();
  /** The last program that declared anything. */
  #last: AgentProgram | undefined;

  constructor(
    private readonly draws: Draws,
    private readonly wrong = TRUE,
  ) {}

  /** Work from this call to the last of its program, in the order of its calls. */
  remaining(job: Job): Work {
    const { promptTokens, outputTokens } = this.#declaredFor(job);
    const factor = Math.exp((2 * this.draws.ofProgram('declared', job) - 1) * Math.log(this.wrong.spread));
    return {
      promptTokens: tokens(Math.round(promptTokens * factor)),
      outputTokens: tokens(Math.round(outputTokens * factor)),
    };
  }

  /** A program that outlives the one for which it is mistaken declares the last call of that one again and again. */
  #declaredFor(job: Job): Rest {
    const { played, index } = job;
    let declared = this.#declared.get(played);
    if (declared === undefined) {
      const { program } = played.run;
      const isMistaken = this.draws.ofProgram('mistaken', job) < this.wrong.mistakenShare;
      declared = restsOf((isMistaken ? (this.#last ?? program) : program).calls);
      this.#declared.set(played, declared);
      this.#last = program;
    }
    return declared[Math.min(index, declared.length - 1)] as Rest;
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
