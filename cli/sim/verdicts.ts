import { breakEvenOf, isRising, meanOf, p99Of, type PlaceVerdict, placeVerdict } from '../../lab/index.js';
import { BALANCER_NAMES } from '../../loadbalancer/index.js';
import { POLICY_NAMES } from '../../src/index.js';
import { isChoice, valuesText } from './axes.js';
import { ratiosOf } from './comparison.js';
import { axesOf, choicesOf, type Plan, type Variant } from './plan.js';
import type { RunReport } from './run.js';
import { BELADY } from './scheduling.js';

/** Whether the queue of a variant grew in each of its runs: its times then say only how many programs there were. */
export function isOverloaded(runs: readonly RunReport[], variant: number): boolean {
  const own = runs.filter((run) => run.variant === variant);
  return own.length > 0 && own.every(({ queue_grew }) => queue_grew === true);
}

/**
 * The verdict of each of the circumstances, by itself: a mean over all would hide a certain gain at one of them. None of
 * those that overload every setting.
 */
export function verdictsOf(plan: Plan, runs: readonly RunReport[]): PlaceVerdict[] {
  const choices = choicesOf(plan);
  const firsts = Array.from({ length: plan.variants.length / choices }, (_, at) => at * choices);
  const isServed = (first: number) => plan.variants.slice(first, first + choices).some((_, at) => !isOverloaded(runs, first + at)); // prettier-ignore
  return firsts.filter(isServed).map((first) => verdictAt(plan, runs, first, choices));
}

function verdictAt(plan: Plan, runs: readonly RunReport[], first: number, choices: number): PlaceVerdict {
  const around = valuesText(plan.variants[first]?.values ?? {}, axesOf(plan.lists).filter((axis) => !isChoice(axis))); // prettier-ignore
  const kinds = [...new Set(runs.flatMap(({ by_workload }) => Object.keys(by_workload)))];
  const tried = Array.from({ length: choices }, (_, choice) => {
    const other = first + choice;
    const own = runs.filter((run) => run.variant === other);
    return {
      name: settingOf(plan, other),
      ratio: ratiosOf(runs, { first, other }).program_seconds.mean,
      isOut: !isPossible(plan.variants[other]) || isOverloaded(runs, other),
      failed: own.reduce((sum, run) => sum + run.failed, 0),
      p99s: Object.fromEntries(kinds.map((kind) => [kind, meanOf(own.flatMap(({ by_workload }) => by_workload[kind] ?? []).map(({ program_seconds }) => p99Of(program_seconds)))])), // prettier-ignore
    };
  });
  return placeVerdict(around.charAt(0).toUpperCase() + around.slice(1), tried, { ...plan, repeated: 'seeds' });
}

/** The settings of a variant that an operator may choose. */
export const settingOf = (plan: Plan, variant: number): string =>
  valuesText(plan.variants[variant]?.values ?? {}, axesOf(plan.lists).filter(isChoice));

/** Whether a gateway can be set to it: some policies know the future. */
export const isPossible = (variant: Variant | undefined): boolean =>
  variant !== undefined &&
  variant.values.retention !== BELADY &&
  POLICY_NAMES.some((name) => name === variant.policy) &&
  BALANCER_NAMES.some((name) => name === variant.balancer);

/** The setting to take over several circumstances, and why. */
export function choiceOf(plan: Plan, verdicts: readonly PlaceVerdict[]): { choice: number; sentence: string } {
  const [axis, ...more] = axesOf(plan.lists).filter((each) => !isChoice(each));
  const loads = more.length === 0 && (axis === 'rate' || axis === 'concurrency') ? (plan.lists[axis] ?? []) : [];
  return breakEvenOf(verdicts, (choice) => settingOf(plan, choice), isRising(loads) ? loads.length : undefined);
}
