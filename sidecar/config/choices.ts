import type { BalancerName } from '../../loadbalancer/index.js';
import type { PolicyName } from '../../src/index.js';

/** A sentence about each policy, for help and documents. */
export const POLICY_SENTENCES: Readonly<Record<PolicyName, string>> = {
  plas: 'The program that is likely to need the least engine time still goes first, with window and gate (after Autellix).',
  'pass-through': 'No scheduling: every call goes to an engine at once.',
  'fcfs-window': 'First come, first served, with the same window and gate: what the gate gains without the order.',
};

/** A sentence about each balancer. */
export const BALANCER_SENTENCES: Readonly<Record<BalancerName, string>> = {
  'program-affinity':
    'Long calls stay on the engine that holds their program’s context, and short ones go where least runs (Autellix).',
  'least-loaded': 'Each call goes to the engine with the fewest tokens of work, whatever its program.',
  sticky: 'All calls of a program go to the engine of its first call.',
};
