import type { Command } from 'commander';
import { ConfigError } from '../sidecar/config/index.js';
import { counted } from '../text/index.js';
import { LoadError, runLoad, type LoadProgress } from '../loadtest/index.js';
import {
  leftText,
  makeReporter,
  sloName,
  summaryOf,
  writeReport,
  type LoadDocument,
} from '../loadtest/report/index.js';
import { addCompareCommand } from './load/compare.js';
import { addLoadOptions, type LoadFlags } from './load/flags.js';
import { readLoads, type Load } from './load/read-load.js';
import { sweep, type Play } from './load/sweep.js';
import { Interrupted, stoppable } from './signals.js';
import { complain } from './complain.js';
import { Faults } from './trace-file.js';

export function addLoadCommand(program: Command): void {
  const load = addLoadOptions(
    program.command('load').description('send agent programs to an engine or gateway, and measure them'),
  );
  load.action((flags: LoadFlags) => run(load, flags));
  addCompareCommand(load);
}

async function run(command: Command, flags: LoadFlags): Promise<void> {
  const faults = new Faults();
  const loads = await readLoads(command, flags, faults);
  const [first] = loads;
  const warn = (warning: string) => complain(`warning: ${warning}`);
  let { baseline } = first.options;
  const play = async (load: Load, signal: AbortSignal) => {
    const { report, options } = load;
    // Each load of a sweep would warn again.
    const onWarning = flags.quiet || load !== first ? undefined : warn;
    const reporter = makeReporter(report);
    const onProgress = (progress: LoadProgress) => reporter.progress(progress);
    const playing = runLoad({ ...options, baseline, onProgress, onWarning }, reporter, signal);
    const played = await playing.catch(unusable(options.apiKey));
    // One base of slowdowns for all loads.
    baseline = played.targets[0]?.alone ?? baseline;
    return reporter.report(played);
  };
  const early = new Interrupted('stopped before the first program was sent');
  const documents = await stoppable(
    (signal) => (loads.length > 1 ? sweep(loads, play, signal) : single(first, play, signal)),
    early,
  );
  const stopped = documents.find(({ complete }) => !complete);
  if (stopped !== undefined)
    throw new Interrupted(`stopped with ${counted(stopped.programs_unfinished, 'program')} under way`);
  const [fault, ...others] = documents.map(faultOf);
  if (fault !== undefined && !others.includes(undefined)) throw new Error(fault);
  const { source } = first;
  if (source.type === 'trace') faults.check(source.file, source.programs.length, false);
}

async function single(load: Load, play: Play, signal: AbortSignal): Promise<LoadDocument[]> {
  const document = await play(load, signal);
  await writeReport(load.report, (width) => `${load.title}\n\n${summaryOf(document, width)}`, document);
  return [document];
}

/** Turns a target that cannot be used into an error of usage, without the key, which a target may echo. */
export const unusable =
  (apiKey: string | undefined) =>
  (error: unknown): never => {
    if (!(error instanceof LoadError)) throw error;
    const message = apiKey === undefined ? error.message : error.message.replaceAll(apiKey, '[key]');
    throw new ConfigError([{ path: '', message }]);
  };

/** Why a run counts as a failure, although it was measured. */
function faultOf({ slo, targets }: LoadDocument): string | undefined {
  const left = targets.map(leftText).find((text) => text !== undefined);
  if (left !== undefined) return left;
  const missed = slo.filter(({ met }) => !met);
  if (missed.length > 0) return `missed ${missed.map((each) => sloName(each, targets.length > 1)).join(', ')}`;
  const allows = (name: string) => slo.some((each) => each.target === name && /^(.\.)?failed\b/.test(each.expression));
  const bad = targets.find(({ name, failed, completed }) => failed > 0 && (completed === 0 || !allows(name)));
  if (bad === undefined) return undefined;
  const allowed = bad.completed === 0 ? '' : ` (see --slo 'failed <= N')`;
  return `${bad.failed} of ${counted(bad.programs, 'program')} failed at ${bad.url}${allowed}`;
}
