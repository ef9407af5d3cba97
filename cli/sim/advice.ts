import type { Arrivals } from '../../workloads/index.js';
import { isOf, nameOf, type Plan, variantsOf } from './plan.js';
import { Pool } from './pool.js';
import { untilEnded } from './progress.js';
import type { RunReport } from './run.js';

/** Doublings of the load after which the search for one that makes calls wait is given up. */
const DOUBLINGS_MAX = 10;

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

/** Doubles the load until some call waits. */
async function tooLow(plan: Plan, worker: URL, signal: AbortSignal): Promise<string> {
  const one = { ...plan, policies: plan.policies.slice(0, 1), balancers: plan.balancers.slice(0, 1), seeds: plan.seeds.slice(0, 1) }; // prettier-ignore
  let arrivals = plan.arrivals;
  for (let tries = 0; tries < DOUBLINGS_MAX && !signal.aborted; tries += 1) {
    arrivals = doubled(arrivals);
    const pool = new Pool<Plan, RunReport>(worker, { ...one, arrivals }, 1, 1);
    const [run] = (await untilEnded(pool, plan.programs, signal)).values();
    if (run?.complete === true && !hasNoWait(run))
      return `No call ever waited, so nothing could differ: raise ${loadText(arrivals, 'above')}.`;
  }
  return `No call ever waited, so nothing could differ: none would even at ${loadText(arrivals)}. Try fewer --engines or more --programs.`; // prettier-ignore
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

function loadText(arrivals: Arrivals, than?: 'above' | 'below'): string {
  const [flag, value] = loadOf(arrivals);
  return `${flag} ${than === undefined ? '' : `${than} `}${Number(value.toPrecision(2))}${arrivals.type === 'open' ? ' a second' : ''}`;
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
