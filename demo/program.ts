import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { CommanderError } from 'commander';
import { Agent } from 'undici';
import { readBytesPerToken, readCapacity, readCounters, readModel, startStandIns, type Engines } from './engines.js';
import { startGateway } from './gateway.js';
import { makeCommand, type DemoOptions } from './options.js';
import { replay } from './replay.js';
import { summarize, table, type Run } from './report.js';
import { demandOf, recordedWorkload, smallWorkload, syntheticWorkload, withoutAnswers } from './workload.js';
import type { Demand, Workload } from './workload.js';

/** What the stand-in's tokenizer makes of any text. */
const STAND_IN_BYTES_PER_TOKEN = 4;
/** Above this share of program time the machine is too slow for the speed, and the times are too long. */
const OVERHEAD_SHARE_MAX = 0.05;
const TRACES = '../shared/traces/mini-swe-agent';

const say = (text: string) => process.stderr.write(`${text}\n`);

/** Runs one command line and gives its exit code: 0 when every program finished, 1 when not, 2 for wrong usage. */
export async function main(argv: readonly string[], print: (text: string) => void): Promise<number> {
  const command = makeCommand(TRACES);
  try {
    command.parse(argv, { from: 'user' });
  } catch (error) {
    return error instanceof CommanderError && error.exitCode === 0 ? 0 : 2;
  }
  const options = command.opts<DemoOptions>();
  const stage = options.engine.length > 0 ? await realStage(options) : standInStage(options);
  const runs: Run[] = [];
  for (const [round, seed] of options.seeds.entries()) {
    const workload = await stage.workload(seed);
    if (!options.json) print(describe(workload, stage, options));
    // Whatever drifts while the runs go on must not be one policy's alone.
    const order = round % 2 === 0 ? options.policies : options.policies.toReversed();
    for (const policy of order) runs.push(await run(policy, seed, workload, stage, options));
  }
  const summaries = options.policies.map((policy) =>
    summarize(
      policy,
      runs.filter((each) => each.policy === policy),
    ),
  );
  print(options.json ? JSON.stringify({ options, summaries }, undefined, 2) : `\n${table(summaries)}`);
  for (const { policy, overheadShare } of summaries) {
    if (overheadShare > OVERHEAD_SHARE_MAX)
      say(`warning: ${policy}: this machine does not keep up; use a --speed below ${stage.speed}`);
  }
  return summaries.every(({ failures }) => failures === 0) ? 0 : 1;
}

/** Where the programs run. */
interface Stage {
  readonly speed: number;
  readonly bytesPerToken: number;
  workload(seed: number): Promise<Workload>;
  engines(demand: Demand): Promise<Engines>;
  describe(demand: Demand): string;
}

function standInStage(options: DemoOptions): Stage {
  const { engines: count, preset, speed, kvShare, programs, synthetic, traces } = options;
  // Each engine must at least hold the largest context alone, or its calls would be refused.
  const kvTokens = ({ largestTokens, peakTokens }: Demand) =>
    Math.ceil(Math.max((largestTokens * kvShare) / count, peakTokens * 1.1));
  return {
    speed,
    bytesPerToken: STAND_IN_BYTES_PER_TOKEN,
    engines: (demand) => startStandIns({ count, preset, speed, kvTokens: kvTokens(demand) }),
    async workload(seed) {
      const recorded = synthetic
        ? undefined
        : await recordedWorkload(traces, programs, (error) => say(`left out: ${error.message}`));
      return recorded ?? syntheticWorkload(programs, seed);
    },
    describe: (demand) =>
      `${count} stand-in engines (${preset}) of ${thousands(kvTokens(demand))} KV tokens, ${speed} times as fast as real`,
  };
}

async function realStage({ engine: urls, programs }: DemoOptions): Promise<Stage> {
  const [first = ''] = urls;
  const sample = smallWorkload(1, 0, STAND_IN_BYTES_PER_TOKEN).programs[0]?.calls[0]?.messages.at(-1)?.content ?? '';
  const bytesPerToken = await readBytesPerToken(first, await readModel(first), sample);
  const capacityTokens = await readCapacity(urls);
  return {
    speed: 1,
    bytesPerToken,
    workload: (seed) => Promise.resolve(smallWorkload(programs, seed, bytesPerToken)),
    engines: () => Promise.resolve({ urls, stop: () => Promise.resolve() }),
    describe: () =>
      `${urls.join(', ')}: ${capacityTokens === undefined ? 'unknown' : thousands(capacityTokens)} KV tokens`,
  };
}

/** One policy, on engines and a gateway of its own, or on given engines with a part of their caches of its own. */
async function run(policy: string, seed: number, workload: Workload, stage: Stage, options: DemoOptions): Promise<Run> {
  const engines = await stage.engines(demandOf(workload.programs, stage.bytesPerToken));
  try {
    const { balancer, config: file } = options;
    const gateway = await startGateway({ policy, balancer, file, engines: engines.urls, speed: stage.speed });
    const signal = AbortSignal.timeout(options.timeLimit * 1000);
    // Each program listens.
    setMaxListeners(0, signal);
    const dispatcher = new Agent({ headersTimeout: 0, bodyTimeout: 0 });
    try {
      const before = await readCounters(engines.urls);
      const outcomes = await replay(
        stage.speed === 1 && options.engine.length > 0 ? withoutAnswers(workload.programs) : workload.programs,
        {
          url: gateway.url,
          model: await readModel(gateway.url),
          dispatcher,
          speed: stage.speed,
          gapScale: options.gapScale,
          gapMsMax: options.gapMax * 1000,
          cacheSalt: randomUUID(),
          signal,
        },
      );
      const after = await readCounters(engines.urls);
      for (const { id, failure } of outcomes) if (failure !== undefined) say(`${policy}: ${id}: ${failure}`);
      const prefix = { queries: after.queries - before.queries, hits: after.hits - before.hits };
      return { policy, seed, outcomes, prefix };
    } finally {
      await dispatcher.destroy();
      await gateway.stop();
    }
  } finally {
    await engines.stop();
  }
}

const thousands = (tokens: number) => `${(tokens / 1000).toFixed(1)} k`;

function describe({ name, programs }: Workload, stage: Stage, { gapScale, gapMax }: DemoOptions): string {
  const demand = demandOf(programs, stage.bytesPerToken);
  return [
    `${programs.length} ${name}, all at once, ${demand.calls} calls without any header that tells whose they are`,
    `contexts: ${thousands(demand.meanTokens)} tokens together on average, ${thousands(demand.largestTokens)} at their ` +
      `largest; tool times x ${gapScale}, at most ${gapMax} s before that`,
    stage.describe(demand),
  ].join('\n');
}
