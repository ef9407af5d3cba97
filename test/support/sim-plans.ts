import { combinationsOf, type Lists } from '../../cli/sim/axes.js';
import { NO_CONDITIONS } from '../../cli/sim/conditions.js';
import type { Plan } from '../../cli/sim/plan.js';
import type { RunReport } from '../../cli/sim/worker.js';

export const spread = (mean: number, count = 300) => ({ count, mean, p50: mean, p95: mean, p99: mean, max: mean });

/** What a run is told to differ in; times are in seconds. */
type Changes = { readonly [Key in keyof RunReport]?: RunReport[Key] | object };

/** A plan of these settings, and runs in which programs take ten seconds, unless told otherwise of a variant and a seed. */
export function madeUp(
  lists: Lists,
  given: Partial<Plan> = {},
  of: (variant: number, seed: number) => Changes = () => ({}),
): { readonly plan: Plan; readonly runs: readonly RunReport[] } {
  const all = { policy: ['plas'], balancer: ['sticky'], ...lists } as const;
  const variants = combinationsOf(all).map((values) => ({
    values,
    ...{ policy: values.policy, balancer: values.balancer, config: { admission: { gate: 0.9 } } },
    conditions: NO_CONDITIONS,
    arrivals:
      values.concurrency === undefined
        ? { type: 'open', ratePerSecond: values.rate ?? 1 }
        : { type: 'closed', concurrency: values.concurrency },
  }));
  const plan = {
    lists: all,
    variants,
    seeds: [1, 2, 3],
    slos: [],
    programs: 300,
    isExact: false,
    margin: 0.02,
    ...given,
  } as unknown as Plan;
  const runs = variants.flatMap((_, variant) =>
    plan.seeds.map((seed) => {
      const changes = of(variant, seed);
      const times = changes.program_seconds ?? spread(10);
      const each = {
        program_seconds: times,
        seconds_per_token: times,
        ttft_seconds: times,
        slowdown: times,
        queue_seconds: times,
      };
      return {
        variant,
        seed,
        complete: true,
        failed: 0,
        preemptions: 0,
        by_workload: {},
        ...each,
        queue_grew: false,
        programs: 3000,
        programs_per_second: 0.3,
        calls: 9000,
        engine_waits: 9000,
        ...changes,
      };
    }),
  );
  return { plan, runs: runs as unknown as readonly RunReport[] };
}
