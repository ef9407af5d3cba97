import { tokens, type Work } from '../../src/index.js';
import type { AgentCall, AgentProgram } from '../../workloads/index.js';
import type { Conditions } from './conditions.js';
import type { Draws } from './faults.js';
import type { Job, Played } from './job.js';
import type { Preset } from '../engine/presets.js';
import { stepMs } from '../engine/roofline.js';

const TRUE: NonNullable<Conditions['declarations']> = { spread: 1, mistakenShare: 0 };

/** Clients' declarations of their programs: the true rest, or a wrong one. */
export class Declarations {
  readonly #declared = new WeakMap<Played, readonly Rest[]>();
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

type Rest = Pick<AgentCall, 'promptTokens' | 'outputTokens'>;

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
const keptTokensOf = ({ promptTokens, prefix }: AgentCall): number =>
  prefix !== undefined && 'tokens' in prefix ? Math.min(prefix.tokens, promptTokens) : 0;

export const sizeMs = (preset: Preset, { calls }: AgentProgram): number =>
  calls.reduce((sum, call) => sum + serviceMs(preset, call), 0);

/**
 * Service of a call by itself: the prefill of its prompt beyond the shared prefix, and a step for each token of its
 * answer.
 */
export function serviceMs(preset: Preset, call: AgentCall): number {
  const { promptTokens, outputTokens } = call;
  const kept = keptTokensOf(call);
  const tokens = promptTokens - kept;
  const attended = tokens * kept + (tokens * (tokens + 1)) / 2;
  const prefillMs = stepMs(preset, { sequences: 1, tokens, attended, context: promptTokens });
  const context = promptTokens + outputTokens / 2;
  return prefillMs + outputTokens * stepMs(preset, { sequences: 1, tokens: 1, attended: context, context });
}
