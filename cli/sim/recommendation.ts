import { verdictOf } from '../../lab/index.js';
import { BALANCER_NAMES } from '../../loadbalancer/index.js';
import { POLICY_NAMES } from '../../src/index.js';
import { isChoice, type Values, valuesText } from './axes.js';
import { pooledComparisonsOf, ratiosOf, sentenceOf } from './comparison.js';
import { axesOf, type Plan, type Variant } from './plan.js';
import type { RunReport } from './run.js';
import { BELADY } from './scheduling.js';

/** The setting to take, of those that were tried. */
export interface Recommendation {
  /** The reason, and the price. */
  readonly sentence: string;
  /** Values of the settings that were tried several of. */
  readonly values: Values;
  /** Place among the variants of each of the circumstances; 0 is the first setting: nothing better was found. */
  readonly choice: number;
}

/**
 * The setting under which programs end soonest in the mean over all circumstances, if any is certainly better than the
 * first. Undefined where settings do not differ, where runs are missing, and where the first knows the future.
 */
export function recommend(plan: Plan, runs: readonly RunReport[]): Recommendation | undefined {
  const whole = runs.filter(({ complete }) => complete);
  const comparisons = pooledComparisonsOf(plan);
  const isWhole = whole.length === plan.variants.length * plan.seeds.length;
  if (comparisons.length === 0 || !isWhole || !isPossible(plan.variants[0])) return undefined;
  const axes = axesOf(plan.lists).filter(isChoice);
  const own = (choice: number): Values => Object.fromEntries(axes.map((axis) => [axis, plan.variants[choice]?.values[axis]])); // prettier-ignore
  const against = valuesText(own(0));
  const keep = (sentence: string) => ({ sentence, values: own(0), choice: 0 });
  if (!plan.isExact && plan.seeds.length < 2) return keep(`Keep ${against} for now: one seed cannot tell chance from a difference; take several, such as --seed 1,2,3.`); // prettier-ignore
  const failedIn = (variants: readonly number[]) =>
    whole.reduce((sum, run) => sum + (variants.includes(run.variant) ? run.failed : 0), 0);
  const tried = comparisons.map((comparison, at) => ({ comparison, choice: at + 1, ratios: ratiosOf(whole, comparison) })); // prettier-ignore
  const better = tried.filter(
    ({ comparison: { first, other }, choice, ratios }) =>
      isPossible(plan.variants[choice]) &&
      failedIn(other) <= failedIn(first) &&
      verdictOf(ratios.program_seconds.mean, plan.margin) === 'sooner',
  );
  const [best] = better.sort((a, b) => ratioIn(a) - ratioIn(b));
  if (best === undefined) {
    const others = comparisons.length === 1 ? valuesText(own(1)) : `none of the ${comparisons.length} other settings`;
    const is = comparisons.length === 1 ? 'is not' : 'is';
    return keep(`Keep ${against}: ${others} ${is} certainly better by mean program time.`);
  }
  const sentence = sentenceOf(plan, whole, best.comparison, best.ratios, { name: valuesText(own(best.choice)), against }); // prettier-ignore
  return { sentence: ['Take', sentence, ...notesOn(plan, own(best.choice), comparisons.length + 1)].join(' '), values: own(best.choice), choice: best.choice }; // prettier-ignore
}

/** Conditions of the recommendation. */
function notesOn({ lists, variants, isExact }: Plan, { foresight }: Values, settings: number): string[] {
  const places = variants.length / settings;
  const flags = axesOf(lists).filter((axis) => !isChoice(axis)).map((axis) => `--${axis}`); // prettier-ignore
  return [
    ...(places > 1 ? [`Over all ${places} values of ${flags.join(' and ')}.`] : []),
    ...(foresight === 'declared' ? ['Clients must declare their work.'] : []),
    ...(settings > 2 ? [`The best of ${settings} by these same runs: confirm it ${isExact ? 'on another trace' : 'with other seeds'}.`] : []), // prettier-ignore
  ];
}

const ratioIn = ({ ratios }: { readonly ratios: ReturnType<typeof ratiosOf> }): number =>
  ratios.program_seconds.mean.ratio ?? Infinity;

/** Whether a gateway can be set to it: some policies know the future. */
const isPossible = (variant: Variant | undefined): boolean =>
  variant !== undefined &&
  variant.values.retention !== BELADY &&
  POLICY_NAMES.some((name) => name === variant.policy) &&
  BALANCER_NAMES.some((name) => name === variant.balancer);
