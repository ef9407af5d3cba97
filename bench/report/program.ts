import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command, CommanderError } from 'commander';
import { names } from '../../cli/options.js';
import { seeds } from '../../cli/sim/lists.js';
import { jobsOption } from '../../cli/sim/flags.js';
import { readScheduling } from '../../cli/sim/scheduling.js';
import { Interrupted, stoppable } from '../../cli/signals.js';
import { complain } from '../../cli/complain.js';
import {
  type Case,
  drawCharts,
  EXPERIMENTS,
  fullScale,
  keyOf,
  markdownOf,
  Pool,
  RECORDING_NAMES,
  RECORDINGS,
  type Report,
  Results,
  type RunMeasures,
  smokeScale,
  untilEnded,
} from '../../lab/index.js';
import { readRecordings } from './recordings.js';
import type { ReportTask } from './worker.js';

interface ReportFlags {
  readonly out: string;
  readonly only?: readonly string[];
  readonly smoke: boolean;
  readonly jobs: number;
  readonly seed?: readonly number[];
  readonly traces: string;
}

const WORKER = new URL('./worker.js', import.meta.url);
const TITLE = 'Experiments with maitred’s simulator';
const SEEDS = [1, 2, 3];

/** Runs one command line. Returns its exit code: 0, 1 failure, 2 wrong usage, 130 stopped early by a signal. */
export async function main(argv: readonly string[]): Promise<number> {
  try {
    await makeCommand().parseAsync(argv, { from: 'user' });
    return 0;
  } catch (error) {
    // Commander has already reported the error.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    complain(error instanceof Error ? error.message : String(error));
    return error instanceof Interrupted ? 130 : 1;
  }
}

function makeCommand(): Command {
  const command = new Command('bench:report')
    .description('Runs the standing experiments and writes them as Markdown with charts.')
    .exitOverride();
  return command
    .requiredOption('-o, --out <folder>', 'folder for report.md and its charts')
    .addOption(
      names(
        '--only <names>',
        'experiments to run',
        EXPERIMENTS.map(({ name }) => name),
      ),
    )
    .option('--smoke', 'a few programs and runs, to test in seconds that it works', false)
    .addOption(jobsOption())
    .option('--seed <numbers>', `random seeds, several with commas (default: ${SEEDS.join()}; smoke: 1)`, seeds)
    .option('--traces <folder>', `folder of recordings, such as ${RECORDINGS.agentcgroup.file}`, '../shared/traces')
    .addHelpText('after', '\nExample:\n  npm run bench:report -- --out report --only rates --seed 1,2,3')
    .action((flags: ReportFlags) => stoppable((signal) => report(command, flags, signal)));
}

async function report(command: Command, flags: ReportFlags, signal: AbortSignal): Promise<void> {
  if (command.getOptionValueSource('traces') === 'cli' && !existsSync(flags.traces))
    command.error(`--traces: there is no folder ${flags.traces}`);
  const experiments = EXPERIMENTS.filter(({ name }) => flags.only?.includes(name) ?? true);
  const wanted = new Set(experiments.flatMap(({ recordings: played }) => played));
  const recordings = await readRecordings(command, flags.traces, wanted);
  const { config } = readScheduling();
  const seedList = flags.seed ?? (flags.smoke ? SEEDS.slice(0, 1) : SEEDS);
  const present = RECORDING_NAMES.filter((name) => recordings[name] !== undefined);
  const scale = (flags.smoke ? smokeScale : fullScale)({ recordings: present, config });
  const planned = experiments.map((experiment) => ({ experiment, plan: experiment.plan(scale) }));
  const cases = [...new Map(planned.flatMap(({ plan }) => plan.cases.map((one) => [keyOf(one), one]))).values()];
  if (cases.length === 0)
    command.error(
      `--traces: ${flags.traces} has none of the recordings needed: ${[...wanted].map((name) => RECORDINGS[name].file).join(', ')}.`,
    );
  // Before the runs: a folder that cannot be written would lose them all.
  mkdirSync(flags.out, { recursive: true });
  const task = { cases, seeds: seedList, around: { config, recordings } };
  const { results, runs } = await resultsOf(task, flags.jobs, signal);
  const isComplete = runs === cases.length * seedList.length;
  const chapters = planned.map(({ experiment, plan }) => ({
    experiment,
    blocks: plan.tell(results),
    missing: experiment.recordings.filter((name) => !present.includes(name)),
  }));
  const notes = [
    `Figures are of the simulator, in model time: the same on every machine. ${seedList.length === 1 ? 'They are of seed' : 'Each is the mean over seeds'} ${seedList.join(', ')}.`,
    ...(flags.smoke ? ['This is the smoke version: it shows that all of it runs, and its figures say nothing.'] : []),
    ...(isComplete
      ? []
      : [`Stopped with ${runs} of ${cases.length * seedList.length} runs made: figures are missing.`]),
  ];
  await write(flags.out, { title: TITLE, notes, chapters, command: commandLine(flags, seedList) });
  complain(`wrote ${join(flags.out, 'report.md')} and its charts`);
  if (!isComplete) throw new Interrupted(`stopped with ${runs} of ${cases.length * seedList.length} runs made`);
}

async function resultsOf(task: ReportTask, jobs: number, signal: AbortSignal) {
  const { cases, seeds: seedList } = task;
  const results = new Results();
  for (const one of cases) results.expect(one, seedList.length);
  const programs = cases.reduce((sum, { scenario }) => sum + scenario.count * seedList.length, 0);
  const pool = new Pool<ReportTask, RunMeasures>(WORKER, task, cases.length * seedList.length, jobs);
  const made = [...(await untilEnded(pool, programs, signal))].filter(([, run]) => run.complete);
  for (const [index, run] of made)
    results.set(cases[Math.floor(index / seedList.length)] as Case, index % seedList.length, run);
  return { results, runs: made.length };
}

function commandLine({ only, smoke, traces }: ReportFlags, seedList: readonly number[]): string {
  const parts = [
    ...(only === undefined ? [] : [`--only ${only.join()}`]),
    ...(smoke ? ['--smoke'] : []),
    `--seed ${seedList.join()} --traces ${traces}`,
  ];
  return `npm run bench:report -- --out FOLDER ${parts.join(' ')}`;
}

async function write(folder: string, report: Report): Promise<void> {
  const charts = await drawCharts(report);
  for (const [name, svg] of charts) writeFileSync(join(folder, `${name}.svg`), `${svg}\n`);
  writeFileSync(join(folder, 'report.md'), markdownOf(report));
}
