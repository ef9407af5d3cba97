import type { SimBalancerName, SimPolicyName } from '../../sim/index.js';
import { BALANCER_SENTENCES, POLICY_SENTENCES } from '../choices-help.js';

export const SIM_POLICY_SENTENCES: Readonly<Record<SimPolicyName, string>> = {
  ...POLICY_SENTENCES,
  'las-decayed': 'Least attained service that fades with time (llm-d): a program’s past work counts for less and less.',
  srpt: 'Knows the future: the program with the least work left goes first, and waiting promotes nothing. A bound.',
};

export const SIM_BALANCER_SENTENCES: Readonly<Record<SimBalancerName, string>> = {
  ...BALANCER_SENTENCES,
  'round-robin': 'Each call goes to the next engine in turn.',
  'prefix-aware':
    'Each call goes to the engine that has most of its prompt in cache, unless that engine is overloaded.',
};
