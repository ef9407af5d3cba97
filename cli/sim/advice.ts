import { hasFewWaits, verdictOf } from '../../lab/index.js';
import { comparisonsOf, ratiosOf } from './comparison.js';
import { again, isOverloaded, nextOf, ratesOf } from './loads.js';
import { isSweep, nameOf, type Plan, type Variant } from './plan.js';
import { verdictsOf } from './recommendation.js';
import type { RunReport } from './worker.js';

/** Share of calls that may wait in an engine, and be few. */
const ENGINE_WAITS = 0.05;
const NAMES_MAX = 6;

/** Questions that the runs leave open, and what would answer them: sentences. Of several rates, the verdict has them. */
export function adviceOf(plan: Plan, all: readonly RunReport[]): string[] {
  const runs = all.filter(({ complete }) => complete);
  if (runs.length === 0 || ratesOf(plan).length > 1) return [];
  if (runs.every(isUnloaded)) {
    const hasNone = runs.every(({ engine_waits, queue_seconds }) => engine_waits === 0 && queue_seconds.max === 0);
    const found = hasNone ? 'No call ever waited, so nothing could differ' : 'At least 9 of 10 calls never waited, so little could differ'; // prettier-ignore
    return [`${found}: ${raised(plan, runs)}`];
  }
  const over = plan.variants.filter((_, at) => isOverloaded(plan, runs, at) === true);
  if (over.length === 0 && isForNothing(plan, runs))
    return [`Calls waited for nothing: no engine ran out of KV cache, so programs gained no time, and first tokens came later. To gain, ${raised(plan, runs)}`]; // prettier-ignore
  const next = isSweep(plan) ? undefined : nextOf(plan, runs, verdictsOf(plan, runs));
  return [
    ...(over.length === 0 ? [] : [`${listed(over.map((variant) => nameOf(plan, variant)))}: overloaded: the queue kept growing, so times and factors grow with the number of programs.`]), // prettier-ignore
    ...(over.some(({ arrivals }) => arrivals.type === 'trace') ? ['Lower --trace-speed.'] : []),
    ...(next === undefined ? [] : [next]),
  ];
}

/** Whether some setting only made calls wait, in engines that had room for all. */
function isForNothing(plan: Plan, runs: readonly RunReport[]): boolean {
  const changes = isSweep(plan) ? [] : comparisonsOf(plan).map((pair) => ratiosOf(runs, pair));
  const verdicts = changes.map(({ program_seconds: { mean }, ttft_seconds: { p99 } }) => [verdictOf(mean, plan.margin), verdictOf(p99, plan.margin)]); // prettier-ignore
  const hadRoom = runs.every(({ preemptions }) => preemptions === 0);
  return (
    hadRoom && verdicts.some(([, first]) => first === 'later') && verdicts.every(([program]) => program !== 'sooner')
  );
}

/** Whether at most 1 in 20 calls waited at the gateway, and as few in its engine: nothing that scheduling could change. */
const isUnloaded = (run: RunReport): boolean =>
  hasFewWaits(run.queue_seconds) && run.engine_waits <= ENGINE_WAITS * run.calls && run.completed === run.programs;

function listed(names: readonly string[]): string {
  const more = names.length - NAMES_MAX;
  return [...names.slice(0, NAMES_MAX), ...(more > 0 ? [`${more} more`] : [])].join('; ');
}

/** A higher load than the highest of these. */
function raised(plan: Plan, runs: readonly RunReport[]): string {
  const load = ({ arrivals }: Variant) => (arrivals.type === 'open' ? arrivals.ratePerSecond : arrivals.type === 'closed' ? arrivals.concurrency : arrivals.speed); // prettier-ignore
  const most = plan.variants.reduce((top, each) => (load(each) / each.engines > load(top) / top.engines ? each : top));
  if (most.arrivals.type === 'open') return again(plan, runs, [load(most), 3 * load(most)]);
  return `raise ${most.arrivals.type === 'closed' ? '--concurrency' : '--trace-speed'} above ${load(most)}.`;
}
