import type { Command } from 'commander';
import { integer, plain } from '../text/index.js';
import { countOf } from './program-source.js';
import { Interrupted, stoppable } from './signals.js';
import { combinationsOf, type Plan } from './sim/plan.js';
import { Pool } from './sim/pool.js';
import { untilEnded } from './sim/progress.js';
import { readPlan, variantOf } from './sim/read-plan.js';
import type { RunReport } from './sim/run.js';
import { complain, Faults } from './trace-file.js';
import { candidatesOf } from './tune/candidates.js';
import { addTuneOptions, simFlagsOf, type TuneFlags } from './tune/flags.js';
import { answerOf, documentOf, textOf } from './tune/answer.js';
import { halvesOf, ofVariant, runsOfSearch, search } from './tune/search.js';

const WORKER = new URL('./sim/worker.js', import.meta.url);
/** Seeds of the search, and as many others of the check. */
const SEEDS = 3;

/** `maitred tune`: searches settings on half of a load, and checks the best on the other half. */
export function addTuneCommand(program: Command): void {
  const command = addTuneOptions(
    program.command('tune').description('search settings that meet objectives, on model engines'),
  );
  command.action((flags: TuneFlags) => stoppable((signal) => tune(command, flags, signal)));
}

async function tune(command: Command, flags: TuneFlags, signal: AbortSignal): Promise<void> {
  const faults = new Faults();
  const simFlags = simFlagsOf(flags);
  const whole = await readPlan(command, simFlags, faults, signal);
  const [seen, unseen] = halvesOf(whole.source);
  if (unseen.type === 'trace' && unseen.programs.length === 0)
    command.error(`${unseen.file}: one program cannot be halved`);
  const [variant] = whole.variants;
  if (variant === undefined) throw new Error('no setting to begin with');
  const present = { ...variant.values, policy: variant.policy, balancer: variant.balancer };
  const settings = candidatesOf(present, variant.engines, flags.settings, flags.seed);
  const planOf = (source: Plan['source'], from: number): Plan => ({
    ...whole,
    source,
    programs: countOf(flags, source, variant.arrivals),
    variants: settings.map((each) => variantOf(command, simFlags, source, each)),
    seeds: Array.from({ length: whole.isExact ? 1 : SEEDS }, (_, at) => flags.seed + from + at),
  });
  const [plan, check] = [planOf(seen, 0), planOf(unseen, SEEDS)];
  const checks = 2 * check.seeds.length;
  const runs = runsOfSearch(settings.length, plan.seeds.length) + checks;
  complain(`${settings.length} settings, at most ${runs} runs of ${integer(plan.programs)} programs`);
  const play = async (part: Plan, title: string, later: number, until: AbortSignal) => {
    const count = combinationsOf(part).length;
    complain(`${title}: ${count} ${count === 1 ? 'run' : 'runs'}`);
    const pool = new Pool<Plan, RunReport>(WORKER, part, count, flags.jobs);
    const made = [...(await untilEnded(pool, count * part.programs, until, later * part.programs)).values()];
    if (signal.aborted) throw new Interrupted('stopped: nothing was found');
    return made;
  };
  const timeUp = AbortSignal.timeout(flags.time);
  const limited = AbortSignal.any([signal, timeUp]);
  const found = await search({
    plan,
    objectives: flags.slo,
    play: (part, title, later) => play(part, title, later + checks, limited),
  });
  if (timeUp.aborted)
    complain(`the search ended after ${flags.time / 1000} s: ${found.tried} of ${settings.length} settings were tried`);
  // Variant 0 is the present setting from here on, and 1 the chosen one.
  const places = [...new Set([0, found.choice])];
  const answer = answerOf({
    plan: check,
    settings: [present, settings[found.choice] ?? present],
    objectives: flags.slo,
    tried: found.tried,
    closest: { setting: settings[found.closest] ?? present, runs: ofVariant(found.runs, found.closest) },
    seen: places.flatMap((at, variant) => ofVariant(found.runs, at).map((run) => ({ ...run, variant }))),
    unseen: await play({ ...check, variants: places.flatMap((at) => check.variants[at] ?? []) }, 'check on the second half', 0, signal), // prettier-ignore
  });
  process.stdout.write(flags.json ? `${JSON.stringify(documentOf(answer), undefined, 2)}\n` : plain(textOf(answer)));
  if (whole.source.type === 'trace') faults.check(whole.source.file, whole.source.programs.length, false);
  if (!answer.holds) throw new Error(answer.verdict);
}
