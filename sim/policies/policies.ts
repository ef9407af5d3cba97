import {
  type ProgramId,
  type RetentionPolicy,
  type CallId,
  learntRetention,
  type Policy,
  POLICY_NAMES,
  Scheduler,
  type Balancer,
  type PolicyName,
  type SchedulerConfig,
} from '../../src/index.js';
import type { Oracle, Steps } from '../virtual/options.js';
import { LasDecayed } from './las-decayed.js';

/** Steps after which any policy lets go. */
const STEPS_MAX = 64;

/** Clairvoyant retention, after Belady: holds the contexts whose threads call again, and no others. */
function belady(returns: (program: ProgramId, thread: string) => boolean): RetentionPolicy {
  return {
    classOf: ({ program, thread }) => Number(returns(program.id, thread)),
    share: (kind, age) => (age < STEPS_MAX ? kind : 0),
    learn: () => undefined,
  };
}

/** Rules that exist only in the simulator; `break-even` is `learnt` without the least worth of a return, `kept-alone` without returns to lost contexts. */
const SIM_RETENTIONS = {
  belady: ({ returns }: Foresight) => belady(returns),
  'break-even': () => ({ ...learntRetention(), isByFillAlone: true }),
  'kept-alone': () => ({ ...learntRetention(), isOfKept: true }),
} satisfies Record<string, (oracle: Foresight) => RetentionPolicy>;

export type SimRetentionName = keyof typeof SIM_RETENTIONS;
export const SIM_RETENTION_NAMES = Object.keys(SIM_RETENTIONS) as readonly SimRetentionName[];

/** The world's knowledge of each call, kept while the call is in the system. */
class Foresight implements Oracle {
  readonly #restsMs = new Map<CallId, number>();
  #answered: { readonly program: ProgramId; readonly thread: string; readonly returns: boolean } | undefined;

  arrives(id: CallId, programMs: number): void {
    this.#restsMs.set(id, programMs);
  }

  ended(id: CallId): void {
    this.#restsMs.delete(id);
  }

  answered(program: ProgramId, thread: string, returns: boolean): void {
    this.#answered = { program, thread, returns };
  }

  /** Whether the thread calls again, of which a call has just been answered. */
  readonly returns = (program: ProgramId, thread: string): boolean =>
    this.#answered?.program === program && this.#answered.thread === thread && this.#answered.returns;

  /** Service that the program of a call still needs, this call's included; undefined: the call is unknown. */
  of(id: CallId | undefined): number | undefined {
    return id === undefined ? undefined : this.#restsMs.get(id);
  }
}

/**
 * Shortest remaining processing time, of whole programs: the bound for policies that must learn how long programs are.
 * It has the core's window, gate and promotions; an unknown call goes before all others.
 */
export function srpt(foresight: Pick<Foresight, 'of'>): Policy {
  return {
    name: 'srpt',
    admits: true,
    levels: 2,
    stand: (arrival) => ({ level: 1, rank: foresight.of(arrival.id) ?? 0 }),
  };
}

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

/** Every policy that can be compared: the core's, then those of the simulator alone. */
export const SIM_POLICIES = [...POLICY_NAMES, ...Object.keys(SIM_ONLY)] as readonly SimPolicyName[];

/**
 * A fresh scheduler of that policy. The queue and meter settings of `config.policy` apply to policies that have them.
 * @param balancer fresh as well
 * @param retention of idle contexts under a policy of the core, instead of `admission.retention`
 * @throws RangeError when a setting is out of range
 */
export function makeSteps(
  name: SimPolicyName,
  config: SchedulerConfig,
  balancer: Balancer,
  retention?: SimRetentionName,
): Steps {
  if (name in SIM_ONLY) return SIM_ONLY[name as keyof typeof SIM_ONLY](config, balancer);
  const named = { ...config, policy: { ...config.policy, name: name as PolicyName } };
  if (retention === undefined) return steps(new Scheduler(named, balancer), config);
  const oracle = new Foresight();
  const held = { ...named, admission: { ...named.admission, retention: () => SIM_RETENTIONS[retention](oracle) } };
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
