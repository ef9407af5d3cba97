import { hasFewWaits, type RunHooks } from '../../lab/index.js';
import type { Arrivals } from '../../workloads/index.js';
import type { Plan } from './plan.js';
import type { Progress } from './pool.js';
import { runOne, type RunReport } from './run.js';

/** Doublings of the load in search of one that makes calls wait: a thousand times as much. */
const DOUBLINGS_MAX = 10;
/** A rate, or speed, that is as good as all at once. */
const AT_ONCE = 1e6;

/** Share of calls that may wait in an engine, and be few. */
const ENGINE_WAITS = 0.05;

/** A search for a load at which calls wait. */
export interface Search extends Progress {
  /** Undefined: few wait, even when all programs come at once. */
  readonly load: Arrivals | undefined;
}

/** Whether at most 1 in 20 calls waited at the gateway, and as few in its engine: nothing that scheduling could change. */
export const isUnloaded = (run: RunReport): boolean =>
  hasFewWaits(run.queue_seconds) && run.engine_waits <= ENGINE_WAITS * run.calls && run.completed === run.programs;

/** Doubles the load of the plan's first variant until calls wait, if they would when all programs come at once. */
export function searchLoad(plan: Plan, hooks: RunHooks): Search {
  const { variants: [variant], seeds: [seed], programs } = plan; // prettier-ignore
  if (variant === undefined || seed === undefined) throw new RangeError('the plan has no run');
  const waits = (arrivals: Arrivals): boolean => {
    const run = runOne({ ...plan, variants: [{ ...variant, arrivals }] }, { variant: 0, seed }, hooks);
    return run.complete && !isUnloaded(run);
  };
  const found = (load: Arrivals | undefined): Search => ({ complete: !hooks.shouldStop(), programs: 0, load });
  if (!waits(allAtOnce(variant.arrivals, programs))) return found(undefined);
  let load = variant.arrivals;
  for (let doublings = 0; doublings < DOUBLINGS_MAX && !hooks.shouldStop(); doublings += 1) {
    load = doubled(load);
    if (waits(load)) break;
  }
  return found(load);
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
