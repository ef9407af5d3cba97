import type { PolicySettings, SchedulerConfig } from '../config.js';
import type { Call } from '../programs/call.js';
import type { Program } from '../programs/process-table.js';
import { fcfs, fcfsWindow } from './fcfs.js';
import { lasDecayed } from './las-decayed.js';
import { plas } from './plas.js';

/** Where a call stands: lower level first, then lower rank, then the earlier arrival. */
export interface Standing {
  readonly level: number;
  readonly rank: number;
}

/** What a call stands by. Without an id: any call that its program could make now. */
export type Arrival = Pick<Call, 'serviceAtArrivalMs' | 'arrivedAtMs'> & Partial<Pick<Call, 'id' | 'newPromptTokens'>>;

/**
 * Answers the question "which waiting call runs next?".
 * Stateless: what a policy remembers of a program is kept in the program's row, and all time comes as an argument.
 *
 * Two promises are held against every policy (test/conformance/policy.test.ts). Calls that it has no reason to tell apart
 * run in order of arrival. A promoted call, which stands at level 0 with rank 0, runs before younger ones whatever their
 * rank. As nothing is promoted from level 0, all ranks there are 0: a policy that ranks calls does so from level 1 on.
 */
export interface Policy {
  readonly name: string;
  /** False: every call goes out as it comes, without window or gate. */
  readonly admits: boolean;
  /** Number of queues. */
  readonly levels: number;
  /** Standing of a call that arrived with this service of its program and at this time. */
  stand(arrival: Arrival, program: Program, nowMs: number): Standing;
  /** A call has ended with this many prompt and output tokens. */
  charge?(program: Program, promptTokens: number, outputTokens: number, nowMs: number): void;
}

/** Every policy there is: a new one is a file in policies/ and a line here. */
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
