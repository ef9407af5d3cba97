import { meanOf, outcomeOf, ratioText, verdictOf } from '../../lab/index.js';
import { number } from '../../text/index.js';
import { BALANCER_NAMES } from '../../loadbalancer/index.js';
import { POLICY_NAMES } from '../../src/index.js';
import { isChoice, valuesText } from './axes.js';
import { ratiosOf } from './comparison.js';
import { axesOf, choicesOf, type Plan, type Variant } from './plan.js';
import type { RunReport } from './run.js';
import { BELADY } from './scheduling.js';

/** The outcome of the settings that were tried in one set of circumstances, such as at one rate. */
export interface PlaceVerdict {
  /** Such as `At 0.2 a second`. */
  readonly place: string;
  /** Settings under which programs are certainly faster than under the first, the fastest first. */
  readonly better: readonly number[];
  readonly sentence: string;
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
export function verdictsOf(plan: Plan, runs: readonly RunReport[]): PlaceVerdict[] {
  const choices = choicesOf(plan);
  const firsts = Array.from({ length: plan.variants.length / choices }, (_, at) => at * choices);
  const isServed = (first: number) => plan.variants.slice(first, first + choices).some((_, at) => !isOverloaded(runs, first + at)); // prettier-ignore
  return firsts.filter(isServed).map((first) => verdictAt(plan, runs, first, choices));
}

function verdictAt(plan: Plan, runs: readonly RunReport[], first: number, choices: number): PlaceVerdict {
  const values = plan.variants[first]?.values ?? {};
  const around = valuesText(values, axesOf(plan.lists).filter((axis) => !isChoice(axis))); // prettier-ignore
  const place = around.charAt(0).toUpperCase() + around.slice(1);
  const failed = (variant: number) => runs.reduce((sum, run) => sum + (run.variant === variant ? run.failed : 0), 0);
  const tried = Array.from({ length: choices - 1 }, (_, at) => at + 1)
    .filter((choice) => isPossible(plan.variants[first + choice]) && !isOverloaded(runs, first + choice) && failed(first + choice) <= failed(first)) // prettier-ignore
    .map((choice) => ({ choice, ratio: ratiosOf(runs, { first, other: first + choice }).program_seconds.mean })); // prettier-ignore
  const verdicts = tried.map(({ ratio }) => verdictOf(ratio, plan.margin));
  const better = tried
    .filter((_, at) => verdicts[at] === 'sooner')
    .sort((a, b) => (a.ratio.ratio ?? Infinity) - (b.ratio.ratio ?? Infinity));
  const [best] = better;
  const say = (text: string) => ({ place, better: better.map(({ choice }) => choice), sentence: `${place}: ${text}.` });
  if (best === undefined) {
    const unsure = tried.filter((_, at) => verdicts[at] === 'unsure').map(({ choice, ratio }) => `${settingOf(plan, first + choice)} ${ratioText(ratio)}`); // prettier-ignore
    if (unsure.length > 0) return say(`too few seeds to tell (program times ${unsure.join(', ')})`);
    return say(verdicts.includes('same') ? 'no difference' : `${settingOf(plan, first)} is fastest`);
  }
  // Others within its interval may be as good.
  const alike = better.filter(({ ratio }) => (ratio.ratio ?? Infinity) <= (best.ratio.high ?? best.ratio.ratio ?? 0));
  const names = alike.map(({ choice }) => settingOf(plan, first + choice)).join(' or ');
  const gain = `${names}, programs ${outcomeOf(best.ratio, plan.margin)}: ${ratioText(best.ratio)}`;
  return say([gain, ...priceOf(plan, runs, first, first + best.choice)].join('; '));
}

/** The kind of program whose slowest wait longer for it. */
function priceOf({ margin }: Plan, runs: readonly RunReport[], first: number, other: number): string[] {
  const p99Of = (variant: number, kind: string) =>
    meanOf(runs.filter((run) => run.variant === variant).map((run) => run.by_workload[kind]?.program_seconds.p99 ?? null)); // prettier-ignore
  const kinds = [...new Set(runs.flatMap(({ by_workload }) => Object.keys(by_workload)))];
  const prices = kinds.flatMap((kind) => {
    const [before, after] = [p99Of(first, kind), p99Of(other, kind)];
    if (before === null || after === null || after <= before / (1 - margin)) return [];
    return [{ ratio: after / before, text: `${kind} pays: p99 ${number(before)} -> ${number(after)} s` }];
  });
  return prices.sort((a, b) => b.ratio - a.ratio).slice(0, 1).map(({ text }) => text); // prettier-ignore
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

/** The setting that is better at the most of these, of several the one most often the fastest, and from which of them on it always is, if they are loads of one kind. */
export function breakEvenOf(plan: Plan, verdicts: readonly PlaceVerdict[]): { choice: number; sentence: string } {
  const count = (choice: number) => verdicts.filter(({ better }) => better.includes(choice)).length;
  const firsts = (choice: number) => verdicts.filter(({ better }) => better[0] === choice).length;
  const choices = [...new Set(verdicts.flatMap(({ better }) => better))].sort(
    (a, b) => count(b) - count(a) || firsts(b) - firsts(a) || a - b,
  );
  const [choice] = choices;
  if (choice === undefined)
    return { choice: 0, sentence: `Keep ${settingOf(plan, 0)}: no setting is significantly better.` };
  const [axis, ...more] = axesOf(plan.lists).filter((each) => !isChoice(each));
  const loads = axis === 'rate' || axis === 'concurrency' ? (plan.lists[axis] ?? []) : [];
  const isRising = more.length === 0 && loads.length > 1 && loads.every((load, at) => at === 0 || load > (loads[at - 1] ?? 0)); // prettier-ignore
  const from = verdicts.findLastIndex(({ better }) => !better.includes(choice)) + 1;
  const name = settingOf(plan, choice);
  if (!isRising || from >= verdicts.length)
    return { choice, sentence: `${name} is better in ${count(choice)} of these ${verdicts.length}.` }; // prettier-ignore
  const place = (verdicts[from]?.place ?? '').replace(/^At |^With /, '');
  const all =
    verdicts.length === loads.length ? 'at all of these loads' : 'at all of these loads that the engines sustain';
  return { choice, sentence: `${name} pays ${from === 0 ? all : `from ${place} on`}.` };
}
