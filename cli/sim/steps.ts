import type { BalancerOptions } from '../../loadbalancer/index.js';
import { makeBalancer } from '../../loadbalancer/index.js';
import { POLICY_NAMES, Scheduler, type PolicyName, type SchedulerConfig } from '../../src/index.js';
import type { Steps } from '../../sim/virtual/options.js';

export const SIMULATED_POLICIES: readonly string[] = POLICY_NAMES;

export function makeSteps(policy: string, config: SchedulerConfig, balancer: BalancerOptions): Steps {
  const own = { ...config, policy: { ...config.policy, name: policy as PolicyName } };
  return new Scheduler(own, makeBalancer(balancer));
}
