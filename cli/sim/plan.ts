import type { BalancerName, BalancerOptions } from '../../loadbalancer/index.js';
import type { EngineSettings, SimPolicyName } from '../../sim/index.js';
import type { Arrivals } from '../../workloads/index.js';
import type { SchedulerConfig } from '../../src/index.js';
import type { ProgramSource } from '../program-source.js';
import type { ChosenConditions } from './conditions.js';

/** The simulation to run: plain data, so that a thread can receive it. Each policy x balancer x seed is a run. */
export interface Plan {
  readonly source: ProgramSource;
  readonly arrivals: Arrivals;
  /** Programs of a run. */
  readonly programs: number;
  /** Longer gaps are cut to this; Infinity: none is. */
  readonly gapMsMax: number;
  readonly engines: number;
  /** Its name or file. */
  readonly preset: string;
  readonly engine: EngineSettings;
  readonly conditions: ChosenConditions;
  readonly config: SchedulerConfig & { readonly balancer: BalancerOptions };
  /** Whether idle contexts are held by clairvoyance. */
  readonly isBelady: boolean;
  readonly policies: readonly SimPolicyName[];
  readonly balancers: readonly BalancerName[];
  readonly seeds: readonly number[];
  /** Whether seeds change nothing: programs arrive at recorded times, and nothing fails. */
  readonly isExact: boolean;
  /** Share of a time up to which a difference does not matter. */
  readonly margin: number;
}

/** A compared variant: its runs differ in their seed alone. */
export interface Variant {
  readonly policy: SimPolicyName;
  readonly balancer: BalancerName;
}

export interface Combination extends Variant {
  readonly seed: number;
}

/** All variants. The others are compared with the first. */
export function variantsOf({ policies, balancers }: Plan): Variant[] {
  return policies.flatMap((policy) => balancers.map((balancer) => ({ policy, balancer })));
}

/** Name of a variant in tables. */
export const nameOf = (
  { balancers }: Pick<Plan, 'balancers'>,
  { policy, balancer }: Readonly<Record<keyof Variant, string>>,
): string => (balancers.length > 1 ? `${policy}, ${balancer}` : policy);

export const isOf = (run: Variant, { policy, balancer }: Variant): boolean =>
  run.policy === policy && run.balancer === balancer;

export function combinationsOf(plan: Plan): Combination[] {
  return variantsOf(plan).flatMap((variant) => plan.seeds.map((seed) => ({ ...variant, seed })));
}
