import { CommanderError } from 'commander';
import { configure } from '../processes/gateway.js';
import { ConfigError } from '../sidecar/config/index.js';
import { PRESET_NAMES, type PresetName } from '../sim/index.js';
import { integer } from '../text/index.js';
import { play } from './live.js';
import { makeCommand, UsageError, type DemoOptions } from './options.js';
import { compare, summarize, text, type Run, type Summary } from './report.js';
import { makeStage, thousands, type Stage } from './stage.js';
import type { Workload } from './workload.js';

/** Share of program time above which the machine is too slow for the speed, and times come out too long. */
const OVERHEAD_SHARE_MAX = 0.05;

const say = (text: string) => process.stderr.write(`${text}\n`);

type Print = (text: string) => void;

/** Runs one command line. Returns its exit code: 0 when every program finished, 1 when not, 2 for wrong usage. */
export async function main(argv: readonly string[], print: Print): Promise<number> {
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

async function demo(options: DemoOptions, print: Print): Promise<number> {
  const { policies, seeds, balancer, config: file, engine: engines, speed } = options;
  // Reports errors of the configuration before anything starts.
  for (const policy of policies) configure({ policy, balancer, file, engines, speed });
  const stage = await makeStage(options, say);
  const simulate = options.full ? undefined : stage.simulate;
  const workloads: string[] = [];
  const runs: Run[] = [];
  const bounds = (simulate === undefined ? [] : boundsOf(options.preset)).map((preset) => ({ preset, runs: [] as Run[] })); // prettier-ignore
  for (const [index, seed] of seeds.entries()) {
    const workload = await stage.workload(seed);
    workloads.push(describe(workload, stage, options));
    // Alternates the order, so that drift during the runs does not favour one policy.
    for (const policy of index % 2 === 0 ? policies : policies.toReversed()) {
      runs.push(simulate?.(policy, seed, workload, options.preset) ?? (await play(policy, seed, workload, stage, options, say))); // prettier-ignore
      for (const bound of bounds) if (simulate) bound.runs.push(simulate(policy, seed, workload, bound.preset));
    }
  }
  const summariesOf = (own: readonly Run[]) => policies.map((policy) => summarize(policy, own.filter((run) => run.policy === policy))); // prettier-ignore
  const summaries = summariesOf(runs);
  const others = bounds.map(({ preset, runs: own }) => ({ preset, comparisons: compare(summariesOf(own)) }));
  const how = simulate === undefined ? 'live' : 'simulated';
  const report = { options, how, workloads, summaries, comparisons: compare(summaries), bounds: others };
  print(options.json ? JSON.stringify(report, undefined, 2) : text(summaries, [`${HOW[how](stage)}:`, ...workloads], how, others)); // prettier-ignore
  warnOfOverhead(summaries, stage);
  return summaries.every(({ failures }) => failures === 0) ? 0 : 1;
}

/** The preset at the low and the high efficiency that others measured, where it has these. */
const boundsOf = (preset: PresetName): PresetName[] => PRESET_NAMES.filter((name) => name.startsWith(`${preset}:`));

const HOW = {
  simulated: () => 'Simulated, in virtual time, with the gateway’s scheduler; --full plays it live',
  live: ({ speed }: Stage) => (speed === 1 ? 'Live' : `Live, ${speed} times as fast as real`),
};

function warnOfOverhead(summaries: readonly Summary[], { speed }: Stage): void {
  for (const { policy, overheadShare } of summaries) {
    if (overheadShare <= OVERHEAD_SHARE_MAX) continue;
    const advice = speed > 1 ? `; use a --speed below ${speed}` : '';
    say(`warning: ${policy}: this machine does not keep up, and times are too long${advice}`);
  }
}

function describe({ name, programs, demand }: Workload, stage: Stage, { gapMax }: DemoOptions): string {
  return [
    `${programs.length} ${name}, all at once, ${integer(demand.calls)} calls`,
    `contexts: ${thousands(demand.meanTokens)} tokens on average, ${thousands(demand.largestTokens)} at their largest`,
    `tool times x ${stage.gapScale}, at most ${gapMax} s before that`,
    stage.describe(demand),
  ].join('\n');
}
