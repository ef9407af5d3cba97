import { integer } from '../../text/index.js';
import { auto, loadsOf, more } from './loads.js';
import { isLost, isUnloaded, loadOf } from './overload.js';
import { choicesOf, isAlone, nameOf, type Plan, valuesOf } from './plan.js';
import { enginesOf } from './sustained.js';
import type { RunReport } from './worker.js';

const NAMES_MAX = 4;

/** Questions that the runs leave open, and what would answer them: sentences. Of several rates, the verdict has them. */
export function adviceOf(plan: Plan, all: readonly RunReport[]): string[] {
  const runs = all.filter(({ complete }) => complete);
  if (isInVain(runs)) return [vainText(plan, runs)];
  const long = runs.some(({ refused }) => (refused['too_long'] ?? 0) > 0) ? tooLong(plan) : undefined;
  const many = named(
    plan,
    'Many programs fail',
    (at) => (isLost(runs, at) ? '' : undefined),
    `${long === undefined ? '' : `Their ${long}. `}Times are of those that completed.`,
  );
  const some = long === undefined || many.length > 0 ? [] : [`Some programs fail, as ${long}.`];
  return [...some, ...many, ...openOf(plan, runs)];
}

/** A sentence that names variants, and another that explains it. @param of a text after the name; undefined: it is not named */
function named(plan: Plan, words: string, of: (at: number) => string | undefined, why: string): string[] {
  const told = plan.variants.flatMap((variant, at) => {
    const text = of(at);
    return text === undefined ? [] : [nameOf(plan, variant) + text];
  });
  const names = told.length > NAMES_MAX ? `${told.length} of ${plan.variants.length} settings` : told.join('; ');
  return told.length === 0 ? [] : [`${words}: ${names}. ${why}`];
}

function openOf(plan: Plan, runs: readonly RunReport[]): string[] {
  if (runs.length === 0 || valuesOf(plan, 'rate').length > 1 || enginesOf(plan).length > 1) return [];
  if (plan.slos.length === 0 && runs.every(isUnloaded))
    return [`At least 9 of 10 calls never waited, so mean times could hardly differ${raised(plan)}`];
  // In several circumstances, a line for each tells it.
  if (choicesOf(plan) > 1 && choicesOf(plan) < plan.variants.length) return [];
  const over = (at: number) => {
    const { size } = loadOf(plan, runs, at).overloaded;
    return size === 0 ? undefined : size < plan.seeds.length ? ` (${size} of ${plan.seeds.length} seeds)` : '';
  };
  return named(
    plan,
    'Overloaded',
    over,
    'The queue kept growing, so times and factors grow with the number of programs.',
  );
}

/** Whether all runs are for nothing, as not one of their programs was answered to its end. */
export const isInVain = (runs: readonly RunReport[]): boolean =>
  runs.length > 0 && runs.every(({ completed }) => completed === 0);

/** Which of an engine’s two limits prompts exceed, and what raises it. */
function tooLong({ variants: [first] }: Plan): string {
  const { kvTokens = 0, maxModelLen = 0 } = first?.engine.preset ?? {};
  return `prompts are longer than the ${kvTokens < maxModelLen ? `KV cache of ${integer(kvTokens)} tokens. Raise --kv-tokens` : `model’s context of ${integer(maxModelLen)} tokens. Choose another --preset`}`; // prettier-ignore
}

function vainText(plan: Plan, runs: readonly RunReport[]): string {
  const codes = [...new Set(runs.flatMap(({ refused }) => Object.keys(refused)))].sort();
  const remedy = codes.includes('too_long') ? `: ${tooLong(plan)}` : '';
  return `No program completed, as calls ended without an answer (${codes.join(', ')})${remedy}.`;
}

/** The end of a sentence, with the option that finds a higher load than the highest of these, if it can be searched. */
function raised(plan: Plan): string {
  if (plan.searched === 'concurrency') return `: ${more(plan)}`;
  const { axis } = loadsOf(plan);
  return plan.searched === undefined && isAlone(plan, axis) && (axis === 'rate' || choicesOf(plan) > 1)
    ? `: ${auto(axis, 'loads at which they do')}`
    : '.';
}
