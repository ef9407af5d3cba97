import { POLICY_NAMES, Scheduler, type Balancer, type PolicyName, type SchedulerConfig } from '../../src/index.js';
import type { Steps } from '../virtual/options.js';
import { belady } from './belady.js';
import { Foresight, srpt } from './clairvoyant.js';
import { LasDecayed } from './las-decayed.js';

/** Policies that exist only in the simulator: another gateway's rule, and a clairvoyant bound. */
const SIM_ONLY = {
  'las-decayed': forgetting,
  srpt: (config, balancer) => {
    const oracle = new Foresight();
    return { ...steps(new Scheduler(unpromoted(config), balancer, srpt(oracle)), config), oracle };
  },
} satisfies Record<string, (config: SchedulerConfig, balancer: Balancer) => Steps>;

/** Beyond any run, in milliseconds or as a ratio. */
const NEVER = 1e12;

export type SimPolicyName = PolicyName | keyof typeof SIM_ONLY;

/** Facts that no gateway knows. */
interface Truths {
  /** Whether a policy of the core holds idle contexts by clairvoyance, instead of `admission.retention`; absent: no. */
  readonly isBelady?: boolean;
}

/** Every policy that can be compared: the core's, then those of the simulator alone. */
export const SIM_POLICIES = [...POLICY_NAMES, ...Object.keys(SIM_ONLY)] as readonly SimPolicyName[];

/**
 * A fresh scheduler of that policy. The queue and meter settings of `config.policy` apply to policies that have them.
 * @param balancer fresh as well
 * @throws RangeError when a setting is out of range
 */
export function makeSteps(
  name: SimPolicyName,
  config: SchedulerConfig,
  balancer: Balancer,
  { isBelady = false }: Truths = {},
): Steps {
  if (name in SIM_ONLY) return SIM_ONLY[name as keyof typeof SIM_ONLY](config, balancer);
  const named = { ...config, policy: { ...config.policy, name: name as PolicyName } };
  if (!isBelady) return steps(new Scheduler(named, balancer), config);
  const oracle = new Foresight();
  const held = { ...named, admission: { ...named.admission, retention: () => belady(oracle.returns) } };
  return { ...steps(new Scheduler(held, balancer), config), oracle };
}

/**
 * Settings without anti-starvation, as in the literature: waiting moves no call. Nor does waiting refuse a call, since
 * a bound that loses its longest programs is no bound. Admission is unchanged.
 */
function unpromoted(config: SchedulerConfig): SchedulerConfig {
  const { starvation, timeouts } = config;
  return {
    ...config,
    starvation: { ...starvation, beta: NEVER, waitMsMax: NEVER },
    timeouts: { ...timeouts, queueMs: NEVER },
  };
}

function forgetting(config: SchedulerConfig, balancer: Balancer): Steps {
  const policy = new LasDecayed();
  const scheduler = new Scheduler(config, balancer, policy);
  const step: Steps['step'] = (event, now) => {
    const commands = scheduler.step(event, now);
    policy.stepped(event, commands, now);
    return commands;
  };
  return { ...steps(scheduler, config), step };
}

function steps(scheduler: Scheduler, { policy }: SchedulerConfig): Steps {
  return {
    step: (event, now) => scheduler.step(event, now),
    totals: scheduler.totals,
    views: scheduler.views,
    readsRemaining: policy.foresight === 'declared',
  };
}
