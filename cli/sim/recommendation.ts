import { breakEvenOf, headline, isRising, meanOf, p99Of, type PlaceVerdict, placeVerdict } from '../../lab/index.js';
import { BALANCER_NAMES } from '../../loadbalancer/index.js';
import { POLICY_NAMES } from '../../src/index.js';
import { isChoice, placeOf, type Values } from './axes.js';
import { changeOf, ratiosOf } from './comparison.js';
import { loadOf, nextOf, settingOf, sustainedOf } from './loads.js';
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
 * what is best in each, after the answer. Undefined where settings do not differ, unless rates do, where runs are
 * missing, and where the first knows the future.
 */
export function recommend(plan: Plan, all: readonly RunReport[]): Recommendation | undefined {
  const runs = all.filter(({ complete }) => complete);
  const settings = choicesOf(plan);
  const isWhole = runs.length === plan.variants.length * plan.seeds.length;
  if (!isWhole || !isPossible(plan.variants[0])) return undefined;
  const axes = axesOf(plan.lists).filter(isChoice);
  const own = (choice: number): Values => Object.fromEntries(axes.map((axis) => [axis, plan.variants[choice]?.values[axis]])); // prettier-ignore
  const verdicts = settings > 1 ? verdictsOf(plan, runs) : [];
  const sustained = sustainedOf(plan, runs);
  const next = nextOf(plan, runs, verdicts);
  const told = (choice: number, lines: readonly (string | undefined)[]) => ({
    sentence: [...lines, ...notesOn(plan, own(choice), choice, settings)]
      .filter((line) => line !== undefined)
      .join('\n'),
    values: own(choice),
    choice,
  });
  const [policy] = plan.lists.policy;
  const pays = policy === 'pass-through' ? undefined : `To learn whether ${policy} pays, compare --policy pass-through,${policy}.`; // prettier-ignore
  if (settings < 2) return sustained.length === 0 ? undefined : told(0, [...sustained, next ?? pays]);
  if (plan.variants.length > settings) {
    const { choice, sentence } = choiceOf(plan, verdicts);
    const answer = choice === 0 && next !== undefined ? [next] : [sentence, next];
    return told(choice, [...answer, ...sustained, ...verdicts.map((each) => each.sentence)]);
  }
  const [best = 0] = verdicts[0]?.better ?? [];
  const against = settingOf(plan, 0);
  if (best === 0) {
    const is = settings === 2 ? `${settingOf(plan, 1)} is not` : `none of the ${settings - 1} other settings is`;
    return told(0, [next ?? `Keep ${against}: ${is} significantly better by mean program time.`]);
  }
  const comparison = { first: 0, other: best };
  const change = changeOf(plan, runs, comparison, ratiosOf(runs, comparison));
  return told(best, [`Take ${headline({ name: settingOf(plan, best), against, ...change }, plan.margin)}`]);
}

function notesOn({ isExact, seeds }: Plan, { foresight }: Values, choice: number, settings: number): string[] {
  return [
    ...(foresight === 'declared' ? ['Clients must declare their work.'] : []),
    ...(settings > 2 && choice > 0 ? [`The best of ${settings} by these same runs: confirm it ${isExact ? 'on another trace' : `with --seed ${othersOf(seeds).join()}`}.`] : []), // prettier-ignore
  ];
}

/** As many other seeds. */
const othersOf = (seeds: readonly number[]): number[] =>
  Array.from({ length: 2 * seeds.length }, (_, at) => at + 1)
    .filter((seed) => !seeds.includes(seed))
    .slice(0, seeds.length);

/** The verdict of each of the circumstances, by itself: a mean over all would hide a certain gain at one of them. */
export function verdictsOf(plan: Plan, runs: readonly RunReport[]): PlaceVerdict[] {
  const choices = choicesOf(plan);
  if (choices < 2) return [];
  return plan.variants.flatMap((_, at) => (at % choices === 0 ? [verdictAt(plan, runs, at, choices)] : []));
}

function verdictAt(plan: Plan, runs: readonly RunReport[], first: number, choices: number): PlaceVerdict {
  const place = placeOf(plan.variants[first]?.values ?? {}, axesOf(plan.lists).filter((axis) => !isChoice(axis))); // prettier-ignore
  const kinds = [...new Set(runs.flatMap(({ by_workload }) => Object.keys(by_workload)))];
  const tried = Array.from({ length: choices }, (_, choice) => {
    const other = first + choice;
    const own = runs.filter((run) => run.variant === other);
    return {
      name: settingOf(plan, other),
      times: changeOf(plan, runs, { first, other }, ratiosOf(runs, { first, other })),
      isOut: !isPossible(plan.variants[other]),
      isOverloaded: loadOf(plan, runs, other).state === 'overloaded',
      failed: own.reduce((sum, run) => sum + run.failed, 0),
      p99s: Object.fromEntries(kinds.map((kind) => [kind, meanOf(own.flatMap(({ by_workload }) => by_workload[kind] ?? []).map(({ program_seconds }) => p99Of(program_seconds)))])), // prettier-ignore
    };
  });
  return placeVerdict(place, tried, { ...plan, repeated: 'seeds' });
}

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
