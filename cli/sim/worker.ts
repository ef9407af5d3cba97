import { measureRun, type RunHooks, type RunMeasures, serveRuns } from '../../lab/index.js';
import { objectiveOf } from '../../sidecar/config/index.js';
import { makeSimBalancer, makeSteps, type SimBalancerName, type SimPolicyName } from '../../sim/index.js';
import { withShortGaps } from '../../workloads/index.js';
import { programsOf } from './source.js';
import { type Combination, combinationsOf, type Plan } from './plan.js';

/** A thread of `maitred sim`: each run of a plan is of one of its combinations. */
serveRuns((task) => {
  const plan = task as Plan;
  const combinations = combinationsOf(plan);
  return (index, hooks) => {
    const combination = combinations[index];
    if (combination === undefined) throw new RangeError(`there is no run ${index}`);
    return runOne(plan, combination, hooks);
  };
});

/** One run. `--json` prints all but its variant and completions. */
export interface RunReport extends Combination, RunMeasures {
  readonly policy: SimPolicyName;
  readonly balancer: SimBalancerName;
  readonly engines: number;
}

function runOne(plan: Plan, { variant: index, seed }: Combination, hooks: RunHooks): RunReport {
  const variant = plan.variants[index];
  if (variant === undefined) throw new RangeError(`there is no variant ${index}`);
  const { policy, balancer, arrivals, engines, engine, conditions, config, retention } = variant;
  const measures = measureRun(
    {
      programs: withShortGaps(programsOf(plan.source, arrivals, seed), plan.gapMsMax),
      maxPrograms: plan.programs,
      arrivals,
      seed,
      engines,
      engine,
      conditions: conditions.conditions,
      announceEnds: plan.announceEnds,
      objectiveOf: ({ workload, tenant }) => objectiveOf(config.objectives, { workflow: workload, tenant }),
      scheduler: (prefixOf) =>
        makeSteps(policy, config, makeSimBalancer({ ...config.balancer, name: balancer }, prefixOf), retention),
    },
    hooks,
  );
  // Of programs that all failed, calls tell no more.
  const vain = measures.completed === 0 && { ttft_seconds: measures.program_seconds };
  return { variant: index, policy, balancer, engines, seed, ...measures, ...vain };
}
