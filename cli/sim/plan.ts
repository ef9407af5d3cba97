import { BALANCER_NAMES } from '../../loadbalancer/index.js';
import { POLICY_NAMES } from '../../src/index.js';
import type { EngineSettings, SimBalancerName, SimPolicyName, SimRetentionName } from '../../sim/index.js';
import type { Slo } from '../../loadtest/report/index.js';
import { leftAligned } from '../../text/index.js';
import type { Arrivals } from '../../workloads/index.js';
import type { Scheduling } from './scheduling.js';
import type { ProgramSource } from './source.js';
import { AXES, isChoice, SEARCHED, valuesText, type Axis, type Lists, type Searched, type Values } from './axes.js';
import type { ChosenConditions } from './conditions.js';

/** The simulation to run: plain data, so that a thread can receive it. Each variant x seed is a run. */
export interface Plan {
  readonly source: ProgramSource;
  readonly programs: number;
  /** Longer gaps are cut to this; Infinity: none is. */
  readonly gapMsMax: number;
  readonly announceEnds: boolean;
  /** All combinations of the settings, those of the same circumstances together, in the same order each time. */
  readonly variants: readonly Variant[];
  /** Values of the policies, the balancers, and every other setting that the command line names. */
  readonly lists: Lists & { readonly policy: readonly SimPolicyName[]; readonly balancer: readonly SimBalancerName[] };
  readonly seeds: readonly number[];
  /** Objectives to be met for a load to count as sustained. */
  readonly slos: readonly Slo[];
  /** The circumstance whose values are looked for. */
  readonly searched?: Searched | undefined;
  /** Whether seeds change nothing: programs arrive at recorded times, and nothing fails. */
  readonly isExact: boolean;
  /** Share of a time up to which a difference does not matter. */
  readonly margin: number;
}

/** The common part of the runs of one combination of settings, which differ in their seed alone. */
export interface Variant {
  readonly policy: SimPolicyName;
  readonly balancer: SimBalancerName;
  /** Values of all axes in the plan's lists. */
  readonly values: Values;
  readonly arrivals: Arrivals;
  readonly engines: number;
  readonly preset: string;
  readonly engine: EngineSettings;
  readonly conditions: ChosenConditions;
  readonly config: Scheduling['config'];
  /** A rule of the simulator alone, instead of the configured one. */
  readonly retention: SimRetentionName | undefined;
}

/** A run: a variant, by its place in the plan, with a seed. */
export interface Combination {
  readonly variant: number;
  readonly seed: number;
}

/** Whether anything but policies and balancers has several values. */
export const isSweep = ({ lists }: Pick<Plan, 'lists'>): boolean =>
  axesOf(lists).some((axis) => axis !== 'policy' && axis !== 'balancer');

/** The settings that tell variants apart; the policy alone where there is one variant. */
export function axesOf(lists: Lists): Axis[] {
  const axes = AXES.filter((axis) => (lists[axis]?.length ?? 0) > 1);
  return axes.every((axis) => axis === 'balancer') ? ['policy', ...axes] : axes;
}

export const nameOf = ({ lists }: Pick<Plan, 'lists'>, { values }: Pick<Variant, 'values'>): string =>
  valuesText(values, axesOf(lists));

/** The names of what varies, and its values in some of the variants, all of one width. */
export function labelsOf(plan: Plan, variants: readonly number[]): string[] {
  const axes = axesOf(plan.lists);
  const cells = [axes, ...variants.map((at) => axes.map((axis) => String(plan.variants[at]?.values[axis] ?? '')))];
  if (!isSweep(plan)) return cells.map((row) => row.join(', '));
  const columns = axes.map((_, column) => leftAligned(cells.map((row) => row[column] ?? '')));
  return cells.map((_, row) => columns.map((column) => column[row]).join('  '));
}

/** The settings of a variant that can be chosen: `plas (window 64)`. */
export function settingOf({ lists, variants }: Pick<Plan, 'lists' | 'variants'>, variant: number): string {
  const { policy = '', values = {} } = variants[variant] ?? {};
  const axes = axesOf(lists).filter(isChoice);
  const [first = policy, ...rest] = axes.map((axis) => valuesText(values, [axis])).filter((text) => text !== '');
  return rest.length === 0 ? first : `${first} (${rest.join(', ')})`;
}

/** Whether a gateway can be set to it: some policies know the future. */
export const isPossible = (variant: Variant | undefined): boolean =>
  variant !== undefined &&
  variant.retention === undefined &&
  POLICY_NAMES.some((name) => name === variant.policy) &&
  BALANCER_NAMES.some((name) => name === variant.balancer);

/** Whether no circumstance but this one varies. */
export const isAlone = ({ lists }: Plan, axis: Searched): boolean =>
  circumstancesOf(lists).every((each) => each === axis);

/** The values of a circumstance, if no other varies. */
export const valuesOf = (plan: Plan, axis: Searched): readonly number[] =>
  isAlone(plan, axis) ? (plan.lists[axis] ?? []) : [];

/** The variants of one of the circumstances, by its place. */
export const variantsAt = (plan: Plan, at: number): number[] =>
  Array.from({ length: choicesOf(plan) }, (_, choice) => at * choicesOf(plan) + choice);

/** The circumstances that vary. */
export const circumstancesOf = (lists: Lists): Axis[] => axesOf(lists).filter((axis) => !isChoice(axis));

/** Number of variants for each of the circumstances. */
export const choicesOf = ({ lists, variants }: Pick<Plan, 'lists' | 'variants'>): number =>
  circumstancesOf(lists).reduce((rest, axis) => rest / (lists[axis]?.length ?? 1), variants.length);

/** The variants that are compared with each other: those of the same circumstances, or all, where only presets and conditions differ: that times grow with the load is no news. */
export function groupsOf(plan: Plan): number[][] {
  if (choicesOf(plan) < 2 && axesOf(plan.lists).some((axis) => SEARCHED.some((each) => each === axis))) return [];
  const size = choicesOf(plan) > 1 ? choicesOf(plan) : plan.variants.length;
  return Array.from({ length: plan.variants.length / size }, (_, at) =>
    Array.from({ length: size }, (__, choice) => at * size + choice),
  );
}

export const combinationsOf = ({ variants, seeds }: Pick<Plan, 'variants' | 'seeds'>): Combination[] =>
  variants.flatMap((_, variant) => seeds.map((seed) => ({ variant, seed })));

/** The plan with other values of a circumstance. */
export function withValues(plan: Plan, axis: Searched, values: readonly number[]): Plan {
  const choices = plan.variants.slice(0, choicesOf(plan));
  return {
    ...plan,
    lists: { ...plan.lists, [axis]: values },
    variants: values.flatMap((value) => choices.map((variant) => withValue(variant, axis, value))),
  };
}

function withValue(variant: Variant, axis: Searched, value: number): Variant {
  const own = { ...variant, values: { ...variant.values, [axis]: value } };
  if (axis === 'engines') return { ...own, engines: value };
  if (axis === 'concurrency') return { ...own, arrivals: { type: 'closed', concurrency: value } };
  return own.arrivals.type === 'open' ? { ...own, arrivals: { ...own.arrivals, ratePerSecond: value } } : own;
}
