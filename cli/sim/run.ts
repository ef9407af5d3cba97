import { measureRun, type RunHooks, type RunMeasures } from '../../lab/index.js';
import { makeSimBalancer, makeSteps, type SimBalancerName, type SimPolicyName } from '../../sim/index.js';
import { withShortGaps } from '../../workloads/index.js';
import type { Combination, Plan } from './plan.js';
import { programsOf } from '../program-source.js';

/** One run. `--json` prints all but its variant and completions. */
export interface RunReport extends Combination, RunMeasures {
  readonly policy: SimPolicyName;
  readonly balancer: SimBalancerName;
  readonly engines: number;
}

export function runOne(plan: Plan, { variant: index, seed }: Combination, hooks: RunHooks): RunReport {
  const variant = plan.variants[index];
  if (variant === undefined) throw new RangeError(`there is no variant ${index}`);
  const { policy, balancer, arrivals, engines, engine, config, isBelady } = variant;
  const measures = measureRun(
    {
      programs: withShortGaps(programsOf(plan.source, arrivals, seed), plan.gapMsMax),
      maxPrograms: plan.programs,
      arrivals,
      seed,
      engines,
      engine,
      conditions: plan.conditions.conditions,
      announceEnds: plan.announceEnds,
      scheduler: (prefixOf) =>
        makeSteps(policy, config, makeSimBalancer({ ...config.balancer, name: balancer }, prefixOf), { isBelady }), // prettier-ignore
    },
    hooks,
  );
  return { variant: index, policy, balancer, engines, seed, ...measures };
}
