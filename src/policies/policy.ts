import type { PolicySettings, SchedulerConfig } from '../config.js';
import type { Call } from '../programs/call.js';
import type { Program } from '../programs/process-table.js';
import { fcfs, fcfsWindow } from './fcfs.js';
import { lasDecayed } from './las-decayed.js';
import { plas } from './plas.js';

/** Position of a call in the order: lower level first, then lower rank, then the earlier arrival. */
export interface Standing {
  readonly level: number;
  readonly rank: number;
}

/** The facts of a call that decide its standing. Without an id: any call that its program could make now. */
export type Arrival = Pick<Call, 'serviceAtArrivalMs' | 'arrivedAtMs'> & Partial<Pick<Call, 'id' | 'newPromptTokens'>>;

/**
 * Answers the question "which waiting call runs next?".
 * Stateless: a policy keeps its memory of a program in the program's row, and all time comes as an argument.
 *
 * test/conformance/policy.test.ts holds every policy to two promises. Calls that it has no reason to tell apart run in
 * order of arrival. A promoted call stands at level 0 with rank 0 and runs before younger ones whatever their rank.
 * Nothing is promoted from level 0, so all ranks there are 0: a policy that ranks calls does so from level 1 on.
 */
export interface Policy {
  readonly name: string;
  /** False: every call is dispatched on arrival, without window or gate. */
  readonly admits: boolean;
  /** Whether a running batch may hold a call back (`admission.ts`); for policies that order by attained service. */
  readonly weighs?: boolean;
  /** Number of queues. */
  readonly levels: number;
  /** Standing of a call that arrived at this time, with this attained service of its program. */
  stand(arrival: Arrival, program: Program, nowMs: number): Standing;
  /** Notes that a call of the program has ended with this many prompt and output tokens. */
  charge?(program: Program, promptTokens: number, outputTokens: number, nowMs: number): void;
}

/** All policies. A new one is a file in policies/ and a line here. */
const POLICIES = {
  plas,
  fcfs: () => fcfs,
  'fcfs-window': () => fcfsWindow,
  'las-decayed': () => lasDecayed,
} satisfies Record<string, (settings: PolicySettings) => Policy>;

export type PolicyName = keyof typeof POLICIES;
export const POLICY_NAMES = Object.keys(POLICIES) as [PolicyName, ...PolicyName[]];

export function makePolicy(config: SchedulerConfig['policy']): Policy {
  return POLICIES[config.name](config);
}
