import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { CommanderError } from 'commander';
import { Agent } from 'undici';
import { ConfigError } from '../sidecar/config/problems.js';
import { readCounters } from '../processes/engines.js';
import { configure, readModel, readView, startGateway } from '../processes/gateway.js';
import { makeCommand, UsageError, type DemoOptions } from './options.js';
import { Progress } from './progress.js';
import { replay } from './replay.js';
import { compare, summarize, text, type Run } from './report.js';
import { makeStage, thousands, type Stage } from './stage.js';
import type { Workload } from './workload.js';

/** Share of program time above which the machine is too slow for the speed, and times come out too long. */
const OVERHEAD_SHARE_MAX = 0.05;

const say = (text: string) => process.stderr.write(`${text}\n`);

/** Runs one command line. Returns its exit code: 0 when every program finished, 1 when not, 2 for wrong usage. */
export async function main(argv: readonly string[], print: (text: string) => void): Promise<number> {
  try {
    const command = makeCommand().parse(argv, { from: 'user' });
    return await demo(command.opts<DemoOptions>(), print);
  } catch (error) {
    // Commander has already reported the error.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    say(`demo: ${error instanceof Error ? error.message : String(error)}`);
    return error instanceof UsageError || error instanceof ConfigError ? 2 : 1;
  }
}

async function demo(options: DemoOptions, print: (text: string) => void): Promise<number> {
  const { policies, seeds, json, balancer, config: file, engine: engines } = options;
  // Reports errors of the configuration before anything starts.
  for (const policy of policies) configure({ policy, balancer, file, engines, speed: options.speed });
  const stage = await makeStage(options, say);
  const runs: Run[] = [];
  const workloads: string[] = [];
  const startedAt = performance.now();
  for (const [round, seed] of seeds.entries()) {
    const workload = await stage.workload(seed);
    workloads.push(describe(workload, stage, options));
    if (!json) print(`${workloads.at(-1) ?? ''}\n`);
    if (round === 0) sayForecast(stage.estimateSeconds(workload), policies.length * seeds.length);
    // Alternates the order, so that drift during the runs does not favour one policy.
    const order = round % 2 === 0 ? policies : policies.toReversed();
    for (const policy of order) {
      runs.push(await run(policy, seed, workload, stage, options));
      sayRemaining((performance.now() - startedAt) / 1000 / runs.length, policies.length * seeds.length - runs.length);
    }
  }
  const summaries = policies.map((policy) =>
    summarize(
      policy,
      runs.filter((each) => each.policy === policy),
    ),
  );
  const report = { options, workloads, summaries, comparisons: compare(summaries) };
  print(json ? JSON.stringify(report, undefined, 2) : text(summaries, stage.speed));
  for (const { policy, overheadShare } of summaries) {
    if (overheadShare <= OVERHEAD_SHARE_MAX) continue;
    const advice = stage.speed > 1 ? `; use a --speed below ${stage.speed}` : '';
    say(`warning: ${policy}: this machine does not keep up, and times are too long${advice}`);
  }
  return summaries.every(({ failures }) => failures === 0) ? 0 : 1;
}

/** One policy, on engines and a gateway of its own, or on given engines with its own part of their caches. */
async function run(policy: string, seed: number, workload: Workload, stage: Stage, options: DemoOptions): Promise<Run> {
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

function describe({ name, programs, demand }: Workload, stage: Stage, { gapMax }: DemoOptions): string {
  return [
    `${programs.length} ${name}, all at once, ${demand.calls} calls without headers`,
    `contexts in all: ${thousands(demand.meanTokens)} tokens on average, ${thousands(demand.largestTokens)} at their largest`,
    `tool times x ${stage.gapScale}, at most ${gapMax} s before that`,
    stage.describe(demand),
  ].join('\n');
}

/** The forecast before any measurement on this machine. */
function sayForecast(seconds: number | undefined, runs: number): void {
  if (seconds === undefined) return;
  say(
    `${runs} ${runs === 1 ? 'run' : 'runs'}, about ${duration(seconds * runs)} in all, longer where this machine is busy`,
  );
}

/** @param secondsEach mean time of the runs so far, including the start of their engines and gateway */
function sayRemaining(secondsEach: number, runs: number): void {
  if (runs > 0) say(`${runs} more, about ${duration(secondsEach * runs)} if they take as long`);
}

const duration = (seconds: number): string =>
  seconds < 90 ? `${Math.ceil(seconds)} s` : `${Math.round(seconds / 60)} minutes`;
