import type { BalancerName } from '../../loadbalancer/index.js';
import type { PolicyName } from '../../src/index.js';

/** A sentence about each policy, for help and documents. */
export const POLICY_SENTENCES: Readonly<Record<PolicyName, string>> = {
  plas: 'Program-level attained service (Autellix): the program that has used the least engine time goes first, with window and gate.',
  'pass-through': 'No scheduling: every call goes to an engine at once, and the engine’s own order applies.',
  'fcfs-window':
    'First come, first served, with the same window and gate as plas: what the gate gains without the order.',
};

/** A sentence about each balancer. */
export const BALANCER_SENTENCES: Readonly<Record<BalancerName, string>> = {
  'program-affinity':
    'Long calls stay on the engine that holds their program’s context, and short ones go where least runs (Autellix).',
  'least-loaded': 'Each call goes to the engine with the fewest tokens of work, whatever its program.',
  sticky: 'All calls of a program go to the engine of its first call.',
};
