import type { PolicySettings } from '../config.js';
import { MlfqLevels } from './mlfq-levels.js';
import type { Policy } from './policy.js';

/**
 * PLAS and ATLAS (Autellix, "Program-level Prioritization"): a call enters the queue of its program's attained service,
 *     p(c) = P.service on arrival,        P.service = max(P.service, p(c) + t_c) on completion.
 * This is the running sum of a serial program, and the longest observed chain of a parallel one. Inside a queue, first
 * come is first served. A running call keeps its level, since no engine re-prioritises an admitted call. The program's
 * next call enters the queue of its service by then.
 *
 * A prompt's length is known before it runs, so with `countPrompt` a program's first prompt counts as served already.
 * Without it, a first call of 100 tokens and one of 8,000 share a queue, as in the paper.
 *
 * Where more is foreseen, `Outlook.rankMs` takes the place of attained service. Declared rests compare with it, because
 * of programs with heavy-tailed sizes the rest is expected to be about as long as the part done.
 */
export function plas(config: PolicySettings): Policy {
  const levels = new MlfqLevels(config);
  const msPerToken = config.countPrompt ? config.msPerPromptToken : 0;
  // A program keeps its outlook when a reload switches foresight off.
  const foresees = config.foresight !== 'none';
  return {
    name: 'plas',
    admits: true,
    weighs: true,
    foresees,
    levels: config.levels,
    stand: ({ serviceAtArrivalMs, newPromptTokens = 0 }, { outlook }) => {
      const attainedMs = serviceAtArrivalMs + newPromptTokens * msPerToken;
      // A program that has received nothing yet must be told from those of other types.
      const leastMs = Math.max(attainedMs, config.firstQuantumMs / 2);
      const foreseenMs = foresees ? outlook?.rankMs(serviceAtArrivalMs, leastMs) : undefined;
      return { level: levels.of(foreseenMs ?? attainedMs), rank: 0 };
    },
  };
}
