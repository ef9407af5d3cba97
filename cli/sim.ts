import type { Command } from 'commander';
import { Pool, untilEnded } from '../lab/index.js';
import { placeOf } from './sim/axes.js';
import { adviceOf, isInVain } from './sim/advice.js';
import { documentOf } from './sim/document.js';
import { addSimOptions, type GivenFlags } from './sim/flags.js';
import { combinationsOf, type Plan } from './sim/plan.js';
import { recommend } from './sim/recommendation.js';
import { readPlan } from './sim/read-plan.js';
import { fragmentOf } from './sim/scheduling.js';
import { search } from './sim/search.js';
import type { RunReport } from './sim/worker.js';
import { tablesOf } from './sim/tables.js';
import { plain, tableWidth } from '../text/index.js';
import { Interrupted, stoppable } from './signals.js';
import { addCalibrateCommand } from './sim-calibrate.js';
import { Faults } from './trace-file.js';

const WORKER = new URL('./sim/worker.js', import.meta.url);

export function addSimCommand(program: Command): void {
  const sim = addSimOptions(program.command('sim').description('try settings on model engines, in virtual time'));
  sim.action((flags: GivenFlags) => stoppable((signal) => simulate(sim, flags, signal)));
  addCalibrateCommand(sim);
}

async function simulate(command: Command, flags: GivenFlags, signal: AbortSignal): Promise<void> {
  const faults = new Faults();
  const asked = await readPlan(command, flags, faults, signal);
  const run = (trial: Plan) => (signal.aborted ? Promise.resolve([]) : runsOf(trial, flags.jobs, signal));
  const { plan, runs } =
    asked.searched === undefined
      ? { plan: asked, runs: await run(asked) }
      : await search(asked, asked.searched, flags.programs !== undefined, run);
  const advice = signal.aborted ? [] : adviceOf(plan, runs);
  const recommendation = isInVain(runs) ? undefined : recommend(plan, runs, signal.aborted);
  const fragment =
    recommendation !== undefined && recommendation.choice > 0 ? fragmentOf(recommendation.values, flags.config) : [];
  const document = documentOf(plan, runs, advice, recommendation, signal.aborted);
  if (flags.json) process.stdout.write(`${JSON.stringify(document, undefined, 2)}\n`);
  else if (document.runs.length > 0)
    process.stdout.write(plain(tablesOf(plan, runs, document, tableWidth(process.stdout), fragment)));
  if (!document.complete) {
    const ended = document.runs.filter(({ complete }) => complete).length;
    throw new Interrupted(
      `stopped when ${ended}${plan.searched === undefined ? ` of ${combinationsOf(plan).length}` : ''} runs had ended`,
    );
  }
  // The report has told it.
  if (isInVain(runs)) throw new Error('');
  if (plan.source.type === 'trace') faults.check(plan.source.file, plan.source.programs.length, false);
}

async function runsOf(plan: Plan, jobs: number, signal: AbortSignal): Promise<RunReport[]> {
  const runs = combinationsOf(plan).length;
  const pool = new Pool<Plan, RunReport>(WORKER, plan, runs, jobs);
  const label = plan.searched === undefined ? '' : `${placeOf(plan.variants[0]?.values ?? {}, [plan.searched])}: `;
  return [...(await untilEnded(pool, runs * plan.programs, signal, label)).values()];
}
