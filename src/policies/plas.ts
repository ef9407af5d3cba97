import type { SchedulerConfig } from '../config.js';
import { LEVELS, levelOf } from './mlfq-levels.js';
import type { Policy } from './policy.js';

const RANK_MAX = 1e12;

/**
 * PLAS and ATLAS (Autellix, "Program-level Prioritization"): a call enters the queue of its program's attained service,
 *     p(c) = P.service on arrival,        P.service = max(P.service, p(c) + t_c) on completion.
 * This is the running sum of a serial program, and the longest observed chain of a parallel one. Inside a queue, first
 * come is first served. A running call keeps its level, since no engine re-prioritises an admitted call. The program's
 * next call enters the queue of its service by then.
 *
 * A prompt's length is known before it runs, so with `countPrompt` a program's first prompt counts as served already.
 * Without it, a first call of 100 tokens and one of 8,000 share a queue, as in the paper. Where the order is learnt,
 * prompts count once it is: until then newcomers would go by them alone, and not by arrival.
 *
 * With `order: learnt`, the service to expect until the program ends takes the place of attained service, and calls of
 * one queue go by it too (`CompletionIndex`): learnt from ended programs of its agent type, at first from all, and
 * before any have ended in proportion to attained service. Declared rests compare with both.
 */
export function plas(config: SchedulerConfig['policy']): Policy {
  const msPerToken = config.countPrompt ? config.msPerPromptToken : 0;
  const learns = config.order === 'learnt';
  // A program keeps its outlook when a reload switches foresight off.
  const foresees = config.foresight !== 'none';
  return {
    name: 'plas',
    admits: true,
    weighs: true,
    foresees,
    learns,
    levels: LEVELS,
    stand: ({ serviceAtArrivalMs, newPromptTokens = 0 }, { outlook, type }) => {
      const counts = !learns || type?.index.isLearnt;
      const promptMs = counts ? newPromptTokens * msPerToken : 0;
      const declaredMs = foresees ? outlook?.declaredMs(serviceAtArrivalMs) : undefined;
      const learntMs = learns ? type?.index.msToEnd(serviceAtArrivalMs) : undefined;
      const restMs = declaredMs ?? (learntMs === undefined ? undefined : learntMs + promptMs);
      const level = levelOf(restMs ?? serviceAtArrivalMs + promptMs, config.firstQuantumMs);
      return { level, rank: level > 0 && learns ? Math.min(restMs ?? 0, RANK_MAX) : 0 };
    },
  };
}
