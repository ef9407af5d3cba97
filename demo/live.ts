import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { Agent } from 'undici';
import { readCounters } from '../processes/engines.js';
import { readModel, readView, startGateway } from '../processes/gateway.js';
import type { PolicyName } from '../src/index.js';
import type { DemoOptions } from './options.js';
import { Progress } from './progress.js';
import { replay } from './replay.js';
import type { Run } from './report.js';
import type { Say, Stage } from './stage.js';
import type { Workload } from './workload.js';

/** Time in which engines and a gateway start and stop, about. */
const START_SECONDS = 2;

/** Programs that every policy plays. */
export interface Round {
  readonly seed: number;
  readonly workload: Workload;
}

/** Runs of all policies in virtual time; undefined on real engines, whose speed is unknown. */
export function simulateAll(
  rounds: readonly Round[],
  { simulate }: Stage,
  policies: readonly PolicyName[],
): Run[] | undefined {
  return simulate && rounds.flatMap(({ seed, workload }) => policies.map((policy) => simulate(policy, seed, workload)));
}

/** Time that these simulated runs take live. */
export const liveSeconds = (simulated: readonly Run[], speed: number): number =>
  simulated.reduce(
    (sum, { outcomes }) => sum + START_SECONDS + Math.max(...outcomes.map(({ seconds }) => seconds)) / speed,
    0,
  );

/**
 * Plays each round under each policy, one run at a time, and says how long the rest takes.
 * @param simulated the same runs in virtual time; absent: the time is unknown
 */
export async function playAll(
  rounds: readonly Round[],
  stage: Stage,
  options: DemoOptions,
  simulated: readonly Run[] | undefined,
  say: Say,
): Promise<Run[]> {
  const { policies } = options;
  // Alternates the order, so that drift during the runs does not favour one policy.
  const plan = rounds.flatMap(({ seed, workload }, index) =>
    (index % 2 === 0 ? policies : policies.toReversed()).map((policy) => ({ policy, seed, workload })),
  );
  const runs: Run[] = [];
  for (const [index, { policy, seed, workload }] of plan.entries()) {
    const left = plan.slice(index);
    const isLeft = (run: Run) => left.some((each) => each.policy === run.policy && each.seed === run.seed);
    const time = simulated && `, about ${duration(liveSeconds(simulated.filter(isLeft), stage.speed))}`;
    say(`${left.length} live ${left.length === 1 ? 'run' : 'runs'} left${time ?? ''}`);
    runs.push(await play(policy, seed, workload, stage, options, say));
  }
  return runs;
}

/** One policy, on engines and a gateway of its own, or on given engines with its own part of their caches. */
async function play(
  policy: PolicyName,
  seed: number,
  workload: Workload,
  stage: Stage,
  options: DemoOptions,
  say: Say,
): Promise<Run> {
  const { balancer, config: file, gapMax, timeLimit } = options;
  const { speed, gapScale } = stage;
  const engines = await stage.engines(workload.demand);
  try {
    const gateway = await startGateway({ policy, balancer, file, engines: engines.urls, speed });
    const signal = AbortSignal.timeout(timeLimit * 1000);
    // Each program adds a listener.
    setMaxListeners(0, signal);
    const dispatcher = new Agent({ headersTimeout: 0, bodyTimeout: 0 });
    try {
      const { id: model } = await readModel(gateway.url);
      const before = await readCounters(engines.urls);
      const progress = new Progress(policy, workload.programs.length, workload.demand.calls);
      const outcomes = await replay(workload.programs, {
        url: gateway.url,
        model,
        dispatcher,
        speed,
        gapScale,
        gapMsMax: gapMax * 1000,
        cacheSalt: randomUUID(),
        signal,
        watcher: progress,
      });
      progress.stop();
      const after = await readCounters(engines.urls);
      const prefix = { queries: after.queries - before.queries, hits: after.hits - before.hits };
      for (const { id, failure } of outcomes) if (failure !== undefined) say(`${policy}: ${id}: ${failure}`);
      return { policy, seed, speed, outcomes, prefix, view: await readView(gateway.url) };
    } finally {
      await dispatcher.destroy();
      await gateway.stop();
    }
  } finally {
    await engines.stop();
  }
}

const duration = (seconds: number): string =>
  seconds < 90 ? `${Math.ceil(seconds)} s` : `${Math.round(seconds / 60)} minutes`;
