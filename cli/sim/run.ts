import { makeBalancer } from '../../loadbalancer/index.js';
import { measureRun, type RunHooks, type RunMeasures } from '../../lab/index.js';
import { makeSteps } from '../../sim/index.js';
import { withShortGaps } from '../../workloads/index.js';
import type { Combination, Plan } from './plan.js';
import { programsOf } from '../program-source.js';

/** One run. `--json` prints all but its completions; docs/SIMULATOR.md explains every field. */
export interface RunReport extends Combination, RunMeasures {
  readonly engines: number;
}

export function runOne(plan: Plan, combination: Combination, hooks: RunHooks): RunReport {
  const { policy, balancer, seed } = combination;
  const measures = measureRun(
    {
      programs: withShortGaps(programsOf(plan.source, plan.arrivals, seed), plan.gapMsMax),
      maxPrograms: plan.programs,
      arrivals: plan.arrivals,
      seed,
      engines: plan.engines,
      engine: plan.engine,
      conditions: plan.conditions.conditions,
      scheduler: () =>
        makeSteps(policy, plan.config, makeBalancer({ ...plan.config.balancer, name: balancer }), plan.isBelady),
    },
    hooks,
  );
  return { policy, balancer, engines: plan.engines, seed, ...measures };
}
