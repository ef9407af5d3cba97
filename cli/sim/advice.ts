import { again, isForNothing, ratesOf, type Reach, SPAN } from './loads.js';
import { isUnloaded, overloadedSeeds } from './overload.js';
import { nameOf, type Plan } from './plan.js';
import type { RunReport } from './worker.js';

const NAMES_MAX = 6;
const TOO_LONG = 'prompts are longer than an engine takes. Raise --kv-tokens, or choose another --preset';
/** Times the longest program the whole run, below which all came at once. */
const AT_ONCE = 1.01;

/** Questions that the runs leave open, and what would answer them: sentences. Of several rates, the verdict has them. */
export function adviceOf(plan: Plan, all: readonly RunReport[], reach?: Reach): string[] {
  const runs = all.filter(({ complete }) => complete);
  if (isInVain(runs)) return [vainText(runs)];
  const isLong = runs.some(({ refused }) => (refused['too_long'] ?? 0) > 0);
  return [...(isLong ? [`Some programs fail, as ${TOO_LONG}.`] : []), ...openOf(plan, runs, reach)];
}

function openOf(plan: Plan, runs: readonly RunReport[], reach: Reach | undefined): string[] {
  if (runs.length === 0 || ratesOf(plan).length > 1) return [];
  if (runs.every(isUnloaded)) {
    const hasNone = runs.every(({ engine_waits, queue_seconds }) => engine_waits === 0 && queue_seconds.max === 0);
    const found = hasNone ? 'No call ever waited, so nothing could differ' : 'At least 9 of 10 calls never waited, so little could differ'; // prettier-ignore
    return [`${found}: ${raised(plan, runs, reach)}`];
  }
  const over = plan.variants.flatMap((variant, at) => {
    const { size } = overloadedSeeds(plan, runs, at);
    const some = size < plan.seeds.length ? ` (${size} of ${plan.seeds.length} seeds)` : '';
    return size > 0 ? [{ ...variant, text: nameOf(plan, variant) + some }] : [];
  });
  if (isForNothing(plan, runs))
    return [`Calls waited for nothing: no engine ran out of KV cache, so programs gained no time, and first tokens came later: ${raised(plan, runs, reach)}`]; // prettier-ignore
  return [
    ...(over.length === 0 ? [] : [`Overloaded: ${listed([...new Set(over.map(({ text }) => text))])}. The queue kept growing, so times and factors grow with the number of programs.`]), // prettier-ignore
    ...(over.some(({ arrivals }) => arrivals.type === 'trace') ? ['Lower --trace-speed.'] : []),
  ];
}

/** Whether all runs are for nothing, as not one of their programs was answered to its end. */
export const isInVain = (runs: readonly RunReport[]): boolean =>
  runs.length > 0 && runs.every(({ completed }) => completed === 0);

function vainText(runs: readonly RunReport[]): string {
  const codes = [...new Set(runs.flatMap(({ refused }) => Object.keys(refused)))].sort();
  const remedy = codes.includes('too_long') ? `: ${TOO_LONG}` : '';
  return `No program completed, as calls ended without an answer (${codes.join(', ')})${remedy}.`;
}

function listed(names: readonly string[]): string {
  const more = names.length - NAMES_MAX;
  return [...names.slice(0, NAMES_MAX), ...(more > 0 ? [`${more} more`] : [])].join('; ');
}

/** A higher load than the highest of these, if any is. */
function raised(plan: Plan, runs: readonly RunReport[], reach: Reach | undefined): string {
  const [{ arrivals } = { arrivals: undefined }] = plan.variants;
  if (arrivals?.type === 'open') return again(plan, reach, 'raise');
  const isWhole = ({ makespan_seconds: makespan, program_seconds: { max } }: RunReport) => (makespan ?? 0) < AT_ONCE * (max ?? 0); // prettier-ignore
  if (arrivals?.type === 'closed' ? arrivals.concurrency >= plan.programs : runs.every(isWhole))
    return `all programs ran at the same time. ${arrivals?.type === 'trace' ? 'To play more of them, give --rate and --programs' : 'Raise --programs'}.`; // prettier-ignore
  return arrivals?.type === 'trace' ? `run again with --trace-speed ${SPAN * arrivals.speed}.` : again(plan, reach, 'raise'); // prettier-ignore
}
