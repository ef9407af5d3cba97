import { isChoice, type Values, valuesText } from './axes.js';
import { ratiosOf, sentenceOf } from './comparison.js';
import { axesOf, choicesOf, type Plan } from './plan.js';
import type { RunReport } from './run.js';
import { choiceOf, isPossible, verdictsOf } from './verdicts.js';

/** The setting to take, of those that were tried. */
export interface Recommendation {
  /** The reason, and the price: a line, or one for each of the circumstances and a last one. */
  readonly sentence: string;
  /** Values of the settings that were tried several of. */
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
    const others = settings === 2 ? valuesText(own(1)) : `none of the ${settings - 1} other settings`;
    const is = settings === 2 ? 'is not' : 'is';
    return take(0, `Keep ${against}: ${others} ${is} significantly better by mean program time.`);
  }
  const comparison = { first: 0, other: best };
  const names = { name: valuesText(own(best)), against };
  const sentence = sentenceOf(plan, whole, comparison, ratiosOf(whole, comparison), names);
  return take(best, ['Take', sentence, ...notesOn(plan, own(best), best, settings)].join(' '));
}

/** Conditions of the recommendation. */
function notesOn({ isExact }: Plan, { foresight }: Values, choice: number, settings: number): string[] {
  return [
    ...(foresight === 'declared' ? ['Clients must declare their work.'] : []),
    ...(settings > 2 && choice > 0 ? [`The best of ${settings} by these same runs: confirm it ${isExact ? 'on another trace' : 'with other seeds'}.`] : []), // prettier-ignore
  ];
}
