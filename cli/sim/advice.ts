import { meanOf } from '../../lab/index.js';
import { integer, number } from '../../text/index.js';
import { auto, loadsOf, more } from './loads.js';
import { isLost } from './overload.js';
import { choicesOf, isAlone, nameOf, type Plan } from './plan.js';
import { isIdle } from './sustained.js';
import type { RunReport } from './worker.js';

const NAMES_MAX = 4;

/** Questions that the runs leave open, and what would answer them: sentences. Of several rates, the verdict has them. */
export function adviceOf(plan: Plan, all: readonly RunReport[]): string[] {
  const runs = all.filter(({ complete }) => complete);
  if (isInVain(runs)) return [vainText(plan, runs)];
  const long = runs.some(({ refused }) => (refused['too_long'] ?? 0) > 0) ? tooLong(plan) : undefined;
  const failing = plan.variants.flatMap((variant, at) => (isLost(runs, at) ? [nameOf(plan, variant)] : []));
  const names =
    failing.length > NAMES_MAX ? `${failing.length} of ${plan.variants.length} settings` : failing.join('; ');
  const many = `Many programs fail: ${names}. ${long === undefined ? '' : `Their ${long}. `}Times are of those that completed.`;
  const fails = [...(failing.length > 0 ? [many] : someText(plan, runs, long)), ...missedText(plan, runs)];
  return plan.slos.length === 0 && isIdle(plan, runs)
    ? [...fails, `At least 9 of 10 calls never waited, so mean times could hardly differ${raised(plan)}`]
    : fails;
}

/** Under which setting most programs fail, if any do. @param why prompts are too long, if some are */
function someText(plan: Plan, runs: readonly RunReport[], why?: string): string[] {
  const counts = plan.variants.map(
    (_, at) => meanOf(runs.map(({ variant, failed }) => (variant === at ? failed : null))) ?? 0,
  );
  const most = Math.max(...counts);
  const worst = plan.variants[counts.indexOf(most)];
  const where = counts.every((count) => count === most) ? '' : ` at most (${worst && nameOf(plan, worst)})`;
  return most === 0
    ? []
    : [
        `Some programs fail, ${number(most)} of ${integer(plan.programs)}${where}${why === undefined ? '' : `, as ${why}`}.`,
      ];
}

/** Faults that are set for a time which no run under their conditions reaches: sentences. */
function missedText({ variants }: Plan, runs: readonly RunReport[]): string[] {
  const texts = variants.flatMap(({ conditions: { name, conditions } }) => {
    const own = runs.filter(({ variant }) => variants[variant]?.conditions.name === name);
    const ends = Math.max(...own.map((run) => run.makespan_seconds ?? 0));
    const faults = { engineLoss: conditions.engineLoss?.atMs, gatewayRestarts: conditions.gatewayRestarts?.atMs };
    return Object.entries(own.length === 0 ? {} : faults).flatMap(([fault, times = []]) =>
      times
        .filter((ms) => ms > 1000 * ends)
        .map((ms) => `${fault} at ${integer(ms / 1000)} s of ${name} never came, as all programs had ended.`),
    );
  });
  return [...new Set(texts)];
}

/** Whether all runs are for nothing, as not one of their programs was answered to its end. */
export const isInVain = (runs: readonly RunReport[]): boolean =>
  runs.length > 0 && runs.every(({ completed }) => completed === 0);

/** Which of an engine’s two limits prompts exceed, and what raises it. */
function tooLong({ variants: [first] }: Plan): string {
  const { kvTokens = 0, maxModelLen = 0 } = first?.engine.preset ?? {};
  return `prompts are longer than the ${kvTokens < maxModelLen ? `KV cache of ${integer(kvTokens)} tokens. Raise --kv-tokens` : `model’s context of ${integer(maxModelLen)} tokens. Choose another --preset`}`;
}

function vainText(plan: Plan, runs: readonly RunReport[]): string {
  const codes = [...new Set(runs.flatMap(({ refused }) => Object.keys(refused)))].sort();
  const remedy = codes.includes('too_long') ? `: ${tooLong(plan)}` : '';
  return `No program completed, as calls ended without an answer (${codes.join(', ')})${remedy}.`;
}

/** The end of a sentence, with the option that finds a higher load than the highest of these, or a higher one. */
function raised(plan: Plan): string {
  const { axis } = loadsOf(plan);
  if (plan.searched !== undefined) return plan.searched === 'concurrency' ? `: ${more(plan)}` : '.';
  return isAlone(plan, axis) && (axis === 'rate' || choicesOf(plan) > 1)
    ? `: ${auto(plan, axis, 'loads at which they do')}`
    : `: raise --${axis}.`;
}
