import type { Arrivals } from '../../workloads/index.js';
import { isOf, nameOf, type Plan, variantsOf } from './plan.js';
import { Pool } from './pool.js';
import { untilEnded } from './progress.js';
import type { RunReport } from './run.js';

/** Doublings of the load in search of one that makes calls wait: a thousand times as much. */
const DOUBLINGS_MAX = 10;
/** A rate, or speed, that is as good as all at once. */
const AT_ONCE = 1e6;

/** What the runs leave unanswered because of their load, and the load that would answer it: sentences, if any. */
export async function adviceOf(
  plan: Plan,
  runs: readonly RunReport[],
  worker: URL,
  signal: AbortSignal,
): Promise<string[]> {
  const whole = runs.filter(({ complete }) => complete);
  if (whole.length > 0 && whole.every(hasNoWait)) return [await tooLow(plan, worker, signal)];
  return tooHigh(plan, whole);
}

const hasNoWait = ({ engine_waits, queue_seconds, completed, programs }: RunReport): boolean =>
  engine_waits === 0 && queue_seconds.max === 0 && completed === programs;

/** Doubles the load until some call waits, if any would when all programs come at once. */
async function tooLow(plan: Plan, worker: URL, signal: AbortSignal): Promise<string> {
  const { arrivals, policies, balancers, seeds, programs } = plan;
  const one = { ...plan, policies: policies.slice(0, 1), balancers: balancers.slice(0, 1), seeds: seeds.slice(0, 1) };
  const waits = async (tried: Arrivals): Promise<boolean> => {
    const pool = new Pool<Plan, RunReport>(worker, { ...one, arrivals: tried }, 1, 1);
    const [run] = (await untilEnded(pool, programs, signal)).values();
    return run?.complete === true && !hasNoWait(run);
  };
  if (!(await waits(allAtOnce(arrivals, programs))))
    return 'No call ever waited, so nothing could differ, nor would one if all programs came at once: try fewer --engines or more --programs.'; // prettier-ignore
  let tried = arrivals;
  for (let doublings = 0; doublings < DOUBLINGS_MAX; doublings += 1) {
    tried = doubled(tried);
    if (await waits(tried)) break;
  }
  return `No call ever waited, so nothing could differ: raise ${loadText(tried, 'above')}.`;
}

function allAtOnce(arrivals: Arrivals, programs: number): Arrivals {
  switch (arrivals.type) {
    case 'open':
      return { ...arrivals, ratePerSecond: AT_ONCE };
    case 'closed':
      return { ...arrivals, concurrency: programs };
    case 'trace':
      return { ...arrivals, speed: AT_ONCE };
  }
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

function doubled(arrivals: Arrivals): Arrivals {
  switch (arrivals.type) {
    case 'open':
      return { ...arrivals, ratePerSecond: 2 * arrivals.ratePerSecond };
    case 'closed':
      return { ...arrivals, concurrency: 2 * arrivals.concurrency };
    case 'trace':
      return { ...arrivals, speed: 2 * arrivals.speed };
  }
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
