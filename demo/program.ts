import { CommanderError } from 'commander';
import { configure } from '../processes/gateway.js';
import { ConfigError } from '../sidecar/config/index.js';
import { liveSeconds, playAll, simulateAll, type Round } from './live.js';
import { makeCommand, UsageError, type DemoOptions } from './options.js';
import { agreement, compare, summarize, text, type Run, type Summary } from './report.js';
import { makeStage, thousands, type Stage } from './stage.js';
import { excerpt, type Workload } from './workload.js';

/** Share of program time above which the machine is too slow for the speed, and times come out too long. */
const OVERHEAD_SHARE_MAX = 0.05;
/** The live check of a simulated demo: most programs, and most time for all policies together. */
const CHECK_PROGRAMS = 12;
const CHECK_SECONDS_MAX = 60;

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
  const rounds: Round[] = [];
  for (const seed of seeds) rounds.push({ seed, workload: await stage.workload(seed) });
  const simulated = simulateAll(rounds, stage, policies);
  const summaries =
    simulated === undefined || options.full
      ? await playedLive(rounds, stage, options, simulated, print)
      : await simulatedAndChecked(rounds, stage, options, simulated, print);
  return summaries.every(({ failures }) => failures === 0) ? 0 : 1;
}

async function playedLive(
  rounds: readonly Round[],
  stage: Stage,
  options: DemoOptions,
  simulated: readonly Run[] | undefined,
  print: Print,
): Promise<Summary[]> {
  const workloads = rounds.map(({ workload }) => describe(workload, stage, options));
  const how = stage.speed === 1 ? 'Live' : `Live, ${stage.speed} times as fast as real`;
  const runs = await playAll(rounds, stage, options, simulated, say);
  const summaries = summarizeAll(runs, options);
  const report = { options, how: 'live', workloads, summaries, comparisons: compare(summaries) };
  print(options.json ? JSON.stringify(report, undefined, 2) : text(summaries, [`${how}:`, ...workloads], 'live'));
  warnOfOverhead(summaries, stage);
  return summaries;
}

/** The outcome in virtual time at once, then whether the gateway agrees on a part that it plays live. */
async function simulatedAndChecked(
  rounds: readonly Round[],
  stage: Stage,
  options: DemoOptions,
  simulated: readonly Run[],
  print: Print,
): Promise<Summary[]> {
  const { json } = options;
  const workloads = rounds.map(({ workload }) => describe(workload, stage, options));
  const summaries = summarizeAll(simulated, options);
  const how = 'Simulated, in virtual time, with the gateway’s scheduler:';
  if (!json) print(`${text(summaries, [how, ...workloads], 'simulated')}\n`);
  const { round, expected, callsMax } = checkOf(rounds, stage, options);
  const live = summarizeAll(await playAll([round], stage, options, expected, say), options);
  const forecast = summarizeAll(expected, options);
  const check = { workload: describe(round.workload, stage, options), simulated: forecast, summaries: live };
  if (json) {
    const comparisons = compare(summaries);
    print(JSON.stringify({ options, how: 'simulated', workloads, summaries, comparisons, live: check }, undefined, 2));
  } else {
    const played = `Live, ${stage.speed} times as fast as real, at most ${callsMax} calls of each program:`;
    print(agreement(forecast, live, [played, check.workload]));
  }
  warnOfOverhead(live, stage);
  return [...summaries, ...live];
}

/** Part of the first round that all policies together play within the time, and its runs in virtual time. */
function checkOf(
  [first]: readonly Round[],
  stage: Stage,
  { policies }: DemoOptions,
): { round: Round; expected: Run[]; callsMax: number } {
  if (first === undefined) throw new UsageError('no seed');
  for (let callsMax = 64; ; callsMax = Math.floor(callsMax / 2)) {
    const round = { ...first, workload: excerpt(first.workload, { programsMax: CHECK_PROGRAMS, callsMax }) };
    const expected = simulateAll([round], stage, policies) ?? [];
    if (callsMax === 1 || liveSeconds(expected, stage.speed) <= CHECK_SECONDS_MAX) return { round, expected, callsMax };
  }
}

const summarizeAll = (runs: readonly Run[], { policies }: DemoOptions): Summary[] =>
  policies.map((policy) =>
    summarize(
      policy,
      runs.filter((each) => each.policy === policy),
    ),
  );

function warnOfOverhead(summaries: readonly Summary[], { speed }: Stage): void {
  for (const { policy, overheadShare } of summaries) {
    if (overheadShare <= OVERHEAD_SHARE_MAX) continue;
    const advice = speed > 1 ? `; use a --speed below ${speed}` : '';
    say(`warning: ${policy}: this machine does not keep up, and times are too long${advice}`);
  }
}

function describe({ name, programs, demand }: Workload, stage: Stage, { gapMax }: DemoOptions): string {
  return [
    `${programs.length} ${name}, all at once, ${demand.calls.toLocaleString('en-US')} calls`,
    `contexts: ${thousands(demand.meanTokens)} tokens on average, ${thousands(demand.largestTokens)} at their largest`,
    `tool times x ${stage.gapScale}, at most ${gapMax} s before that`,
    stage.describe(demand),
  ].join('\n');
}
