import { breakEvenOf, headline, isRising, meanOf, p99Of, type PlaceVerdict, placeVerdict } from '../../lab/index.js';
import { BALANCER_NAMES } from '../../loadbalancer/index.js';
import { POLICY_NAMES } from '../../src/index.js';
import { isChoice, type Values, valuesText } from './axes.js';
import { changeOf, ratiosOf } from './comparison.js';
import { axesOf, choicesOf, type Plan, type Variant } from './plan.js';
import { BELADY } from './scheduling.js';
import type { RunReport } from './worker.js';

export interface Recommendation {
  /** The reason, and the price: a line, or one for each of the circumstances and a last one. */
  readonly sentence: string;
  readonly values: Values;
  /** Place among the variants of each of the circumstances; 0 is the first setting: nothing better was found. */
  readonly choice: number;
}

/**
 * The setting under which programs are fastest, if any is certainly better than the first; in several circumstances,
 * what is best in each. Undefined where settings do not differ, where runs are missing, where all loads overload all
 * settings, and where the first knows the future.
 */
export function recommend(plan: Plan, runs: readonly RunReport[]): Recommendation | undefined {
  const whole = runs.filter(({ complete }) => complete);
  const settings = choicesOf(plan);
  const isWhole = whole.length === plan.variants.length * plan.seeds.length;
  if (settings < 2 || !isWhole || !isPossible(plan.variants[0])) return undefined;
  const axes = axesOf(plan.lists).filter(isChoice);
  const own = (choice: number): Values => Object.fromEntries(axes.map((axis) => [axis, plan.variants[choice]?.values[axis]])); // prettier-ignore
  const against = valuesText(own(0));
  const take = (choice: number, sentence: string) => ({ sentence, values: own(choice), choice });
  if (!plan.isExact && plan.seeds.length < 2) return take(0, `Keep ${against} for now: one seed cannot tell chance from a difference; take several, such as --seed 1,2,3.`); // prettier-ignore
  const verdicts = verdictsOf(plan, whole);
  if (verdicts.length === 0) return undefined;
  if (plan.variants.length > settings) {
    const { choice, sentence } = choiceOf(plan, verdicts);
    const lines = [...verdicts.map((each) => each.sentence), sentence, ...notesOn(plan, own(choice), choice, settings)];
    return take(choice, lines.join('\n'));
  }
  const [best] = verdicts[0]?.better ?? [];
  if (best === undefined) {
    const is = settings === 2 ? `${valuesText(own(1))} is not` : `none of the ${settings - 1} other settings is`;
    return take(0, `Keep ${against}: ${is} significantly better by mean program time.`);
  }
  const comparison = { first: 0, other: best };
  const change = changeOf(plan, whole, comparison, ratiosOf(whole, comparison));
  const sentence = headline({ name: valuesText(own(best)), against, ...change }, plan.margin);
  return take(best, ['Take', sentence, ...notesOn(plan, own(best), best, settings)].join(' '));
}

function notesOn({ isExact }: Plan, { foresight }: Values, choice: number, settings: number): string[] {
  return [
    ...(foresight === 'declared' ? ['Clients must declare their work.'] : []),
    ...(settings > 2 && choice > 0 ? [`The best of ${settings} by these same runs: confirm it ${isExact ? 'on another trace' : 'with other seeds'}.`] : []), // prettier-ignore
  ];
}

/** Whether the queue of a variant grew in each of its runs: its times then say only how many programs there were. */
export function isOverloaded(runs: readonly RunReport[], variant: number): boolean {
  const own = runs.filter((run) => run.variant === variant);
  return own.length > 0 && own.every(({ queue_grew }) => queue_grew === true);
}

/**
 * The verdict of each of the circumstances, by itself: a mean over all would hide a certain gain at one of them. None of
 * those that overload every setting.
 */
function verdictsOf(plan: Plan, runs: readonly RunReport[]): PlaceVerdict[] {
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
      times: changeOf(plan, runs, { first, other }, ratiosOf(runs, { first, other })),
      isOut: !isPossible(plan.variants[other]) || isOverloaded(runs, other),
      failed: own.reduce((sum, run) => sum + run.failed, 0),
      p99s: Object.fromEntries(kinds.map((kind) => [kind, meanOf(own.flatMap(({ by_workload }) => by_workload[kind] ?? []).map(({ program_seconds }) => p99Of(program_seconds)))])), // prettier-ignore
    };
  });
  return placeVerdict(around.charAt(0).toUpperCase() + around.slice(1), tried, { ...plan, repeated: 'seeds' });
}

const settingOf = (plan: Plan, variant: number): string =>
  valuesText(plan.variants[variant]?.values ?? {}, axesOf(plan.lists).filter(isChoice));

/** Whether a gateway can be set to it: some policies know the future. */
const isPossible = (variant: Variant | undefined): boolean =>
  variant !== undefined &&
  variant.values.retention !== BELADY &&
  POLICY_NAMES.some((name) => name === variant.policy) &&
  BALANCER_NAMES.some((name) => name === variant.balancer);

function choiceOf(plan: Plan, verdicts: readonly PlaceVerdict[]): { choice: number; sentence: string } {
  const [axis, ...more] = axesOf(plan.lists).filter((each) => !isChoice(each));
  const loads = more.length === 0 && (axis === 'rate' || axis === 'concurrency') ? (plan.lists[axis] ?? []) : [];
  return breakEvenOf(verdicts, (choice) => settingOf(plan, choice), isRising(loads) ? loads.length : undefined);
}
