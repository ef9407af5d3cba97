import { verdictOf } from '../../lab/index.js';
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
 * first. Undefined where settings do not differ, or where runs are missing.
 */
export function recommend(plan: Plan, runs: readonly RunReport[]): Recommendation | undefined {
  const whole = runs.filter(({ complete }) => complete);
  const comparisons = pooledComparisonsOf(plan);
  if (comparisons.length === 0 || whole.length < plan.variants.length * plan.seeds.length) return undefined;
  const axes = axesOf(plan.lists).filter(isChoice);
  const own = (choice: number): Values => Object.fromEntries(axes.map((axis) => [axis, plan.variants[choice]?.values[axis]])) as Values; // prettier-ignore
  const failedIn = (variants: readonly number[]) =>
    whole.reduce((sum, run) => sum + (variants.includes(run.variant) ? run.failed : 0), 0);
  const tried = comparisons.map((comparison, at) => ({ comparison, choice: at + 1, ratios: ratiosOf(whole, comparison) })); // prettier-ignore
  const better = tried.filter(
    ({ comparison: { first, other }, choice, ratios }) =>
      isPossible(plan.variants[choice]) &&
      failedIn(other) <= failedIn(first) &&
      verdictOf(ratios.program_seconds.mean, plan.margin) === 'sooner',
  );
  const against = valuesText(own(0));
  const [best] = better.sort((a, b) => ratioIn(a) - ratioIn(b));
  if (best === undefined) {
    const others = comparisons.length === 1 ? valuesText(own(1)) : `none of the ${comparisons.length} other settings`;
    const is = comparisons.length === 1 ? 'is not' : 'is';
    return { sentence: `Keep ${against}: ${others} ${is} certainly better by mean program time.`, values: own(0), choice: 0 }; // prettier-ignore
  }
  const places = plan.variants.length / (comparisons.length + 1);
  const sentence = sentenceOf(plan, whole, best.comparison, best.ratios, { name: valuesText(own(best.choice)), against }); // prettier-ignore
  const notes = [
    ...(places > 1 ? [`In all ${places} circumstances together.`] : []),
    ...(comparisons.length > 1 ? [`The best of ${comparisons.length + 1} by these same runs: confirm it with other seeds.`] : []), // prettier-ignore
  ];
  return { sentence: ['Take', sentence, ...notes].join(' '), values: own(best.choice), choice: best.choice };
}

const ratioIn = ({ ratios }: { readonly ratios: ReturnType<typeof ratiosOf> }): number =>
  ratios.program_seconds.mean.ratio ?? Infinity;

/** Whether a gateway can be set to it: some policies know the future. */
const isPossible = (variant: Variant | undefined): boolean =>
  variant !== undefined && variant.values.retention !== BELADY && POLICY_NAMES.some((name) => name === variant.policy);
