import { makeBalancer } from '../../loadbalancer/index.js';
import { Gathering, type Measures } from '../../sim/measure/measures.js';
import { makeSteps } from '../../sim/policies/policies.js';
import { runWorld } from '../../sim/virtual/world.js';
import type { EngineResult } from '../../sim/virtual/options.js';
import type { Combination, Plan } from './plan.js';
import { programsOf } from './programs.js';

/** One run, as `--json` prints it; docs/SIMULATOR.md tells every field. */
export interface RunReport extends Combination, Measures {
  readonly engines: number;
  /** False: it was stopped before all of its programs had ended. */
  readonly complete: boolean;
  /** Share of prompt tokens that were found in a prefix cache. */
  readonly prefix_hit_rate: number | null;
  readonly preemptions: number;
  /** Mean share of KV blocks held by running calls, over the time in which engines compute. */
  readonly kv_use: number | null;
  /** Share of the makespan in which an engine computes, in the mean. */
  readonly engine_busy: number | null;
  readonly starvation_promotions: number;
}

export interface RunHooks {
  readonly shouldStop: () => boolean;
  /** So many programs have ended. */
  readonly onProgress: (programs: number) => void;
}

export function runOne(plan: Plan, combination: Combination, { shouldStop, onProgress }: RunHooks): RunReport {
  const { policy, balancer, seed } = combination;
  const gathering = new Gathering(seed);
  const { complete, promotions, engines } = runWorld({
    programs: programsOf(plan, seed),
    maxPrograms: plan.programs,
    arrivals: plan.arrivals,
    seed,
    engines: plan.engines,
    engine: plan.engine,
    scheduler: makeSteps(policy, plan.config, makeBalancer({ ...plan.config.balancer, name: balancer })),
    observer: {
      callEnded: (call) => gathering.callEnded(call),
      programEnded: (program) => {
        gathering.programEnded(program);
        onProgress(gathering.programs);
      },
    },
    shouldStop,
  });
  const measures = gathering.measures();
  const sum = (of: (engine: EngineResult) => number) => engines.reduce((all, engine) => all + of(engine), 0);
  const busyMs = sum((engine) => engine.busyMs);
  const spanMs = 1000 * (measures.makespan_seconds ?? 0);
  return {
    policy,
    balancer,
    engines: plan.engines,
    seed,
    complete,
    ...measures,
    prefix_hit_rate: share(
      sum((engine) => engine.hitTokens),
      sum((engine) => engine.queriedTokens),
    ),
    preemptions: sum((engine) => engine.preemptions),
    kv_use: share(
      sum((engine) => engine.kvUsage * engine.busyMs),
      busyMs,
    ),
    engine_busy: share(busyMs, spanMs * plan.engines),
    starvation_promotions: promotions,
  };
}

const share = (part: number, whole: number): number | null => (whole > 0 ? part / whole : null);
