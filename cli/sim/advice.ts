import type { Arrivals } from '../../workloads/index.js';
import { hasNoWait, type Search } from './load-search.js';
import { isOf, nameOf, type Plan, variantsOf } from './plan.js';
import { Pool } from './pool.js';
import { untilEnded } from './progress.js';
import type { RunReport } from './run.js';

const WORKER = new URL('./search-worker.js', import.meta.url);

/** What the runs leave unanswered because of their load, and the load that would answer it: sentences, if any. */
export async function adviceOf(plan: Plan, runs: readonly RunReport[], signal: AbortSignal): Promise<string[]> {
  const whole = runs.filter(({ complete }) => complete);
  if (whole.length > 0 && whole.every(hasNoWait)) return tooLow(plan, signal);
  return tooHigh(plan, whole);
}

async function tooLow(plan: Plan, signal: AbortSignal): Promise<string[]> {
  const search = await untilEnded(new Pool<Plan, Search>(WORKER, plan, 1, 1), plan.programs, signal);
  const { complete = false, load } = search.get(0) ?? {};
  if (!complete) return [];
  return load === undefined
    ? ['No call ever waited, so nothing could differ, nor would one if all programs came at once: try fewer --engines or more --programs.'] // prettier-ignore
    : [`No call ever waited, so nothing could differ: raise ${loadText(load, 'above')}.`];
}

function tooHigh(plan: Plan, runs: readonly RunReport[]): string[] {
  const drained = variantsOf(plan)
    .map((variant) => ({ variant, own: runs.filter((run) => isOf(run, variant)) }))
    .filter(({ own }) => own.length > 0 && own.every(({ queue_grew }) => queue_grew === true));
  if (drained.length === 0) return [];
  const names = drained.map(({ variant }) => nameOf(plan, variant)).join(', ');
  const served = Math.max(
    ...drained.flatMap(({ own }) => own.map(({ programs_per_second }) => programs_per_second ?? 0)),
  );
  const { arrivals } = plan;
  const slower = arrivals.type === 'open' ? loadText({ ...arrivals, ratePerSecond: served }, 'below') : '--trace-speed';
  return [`${names}: a drain, not a steady state: the queue grew throughout, so that times grow with the number of programs. Lower ${slower}.`]; // prettier-ignore
}

function loadText(arrivals: Arrivals, than: 'above' | 'below'): string {
  const [flag, value] = loadOf(arrivals);
  return `${flag} ${than} ${Number(value.toPrecision(2))}${arrivals.type === 'open' ? ' a second' : ''}`;
}

function loadOf(arrivals: Arrivals): readonly [flag: string, value: number] {
  switch (arrivals.type) {
    case 'open':
      return ['--rate', arrivals.ratePerSecond];
    case 'closed':
      return ['--concurrency', arrivals.concurrency];
    case 'trace':
      return ['--trace-speed', arrivals.speed];
  }
}
