/** A change after which the same events may give other commands. */
export interface BehaviourChange {
  /** The number of the behaviour from this change on. */
  readonly behaviour: number;
  /** The change, in one sentence. */
  readonly change: string;
  /** The commands that differ, and when. */
  readonly differs: string;
}

/**
 * Changes of the core's behaviour since the first, number 1, in order. An event log names the behaviour that it was
 * recorded with, so that a replay can tell a change from a fault. `test/cli/behaviours.test.ts` says when one is due.
 */
export const BEHAVIOUR_CHANGES: readonly BehaviourChange[] = [
  {
    behaviour: 2,
    change:
      'Over-long prompts wait in a queue of their own, refusals rest the smallest party that was refused, learning takes ends and sizes without priors, and gateways share weights, step times and slots by turns.',
    differs:
      'Dispatches after a refusal (429, 503), of over-long prompts, of first calls that were refused or run beside others, past the knee, with foresight, and with several gateways; the times of wakes.',
  },
  {
    behaviour: 3,
    change:
      'Programs are charged all their calls and ordered by the service to expect until they end, learnt by agent type, which also forecasts their contexts and weighs them at the knee.',
    differs:
      'The order of calls that wait, their levels, those that the gate or the knee holds, and promotions of parallel calls.',
  },
  {
    behaviour: 4,
    change: 'Service and announced ends of programs are learnt as late as ends that are presumed.',
    differs: 'The order of calls that wait, and those that the knee holds, where programs have ended of late.',
  },
  {
    behaviour: 5,
    change:
      'Of a program that other gateways run too, each answer counts as followed once, by the gateway that gave it.',
    differs: 'The calls that the gate holds, with several gateways and calls of one program to any of them.',
  },
  {
    behaviour: 6,
    change:
      'Contexts are not computed again ahead of a return, next calls are not forecast, and tenants are weighed alike whatever their deadlines. A call that waited for an engine runs elsewhere once that one is on probation.',
    differs:
      'Warms, with `policy.prefetch`; the order of tenants, with `policy.tenants: afs`; dispatches of failed calls when an engine joins again on probation.',
  },
  {
    behaviour: 7,
    change:
      'Agent types of one program rank and grow as programs of their harness, or all, do; first prompts count once programs have ended; there are always fourteen levels.',
    differs:
      'The order of calls that wait and the calls that the gate holds, while few programs of a type have ended; commands under other levels.',
  },
  {
    behaviour: 8,
    change: 'On an engine on probation, too, a gateway runs a call only if it has a slot of those that gateways share.',
    differs: 'Dispatches to engines that have failed and come back, with several gateways.',
  },
];

/** The present behaviour. */
export const BEHAVIOUR = BEHAVIOUR_CHANGES.at(-1)?.behaviour ?? 1;
