import type { Command } from 'commander';
import { LoadError, runLoad, type LoadErrorCode, type LoadProgress } from '../loadtest/index.js';
import { makeReporter, type LoadDocument } from '../loadtest/report/index.js';
import { addCompareCommand } from './load/compare.js';
import { addLoadOptions, type LoadFlags } from './load/flags.js';
import { readLoad } from './load/read-load.js';
import { Interrupted, untilStopped } from './signals.js';
import { besideSubcommands } from './subcommands.js';
import { complain, Faults } from './trace-file.js';

/** Errors of usage, not of a target. */
const USAGE: ReadonlySet<LoadErrorCode> = new Set(['bad_target', 'not_private']);

/** `maitred load`: agent programs against an engine or gateway, or two of them side by side. */
export function addLoadCommand(program: Command): void {
  const load = addLoadOptions(program.command('load').description('send agent programs to an engine or gateway, and measure them')); // prettier-ignore
  besideSubcommands(load, () => run(load, load.opts<LoadFlags>()));
  addCompareCommand(load);
}

async function run(command: Command, flags: LoadFlags): Promise<void> {
  const faults = new Faults();
  const load = await readLoad(command, flags, faults);
  const reporter = makeReporter({ ...load.report, out: process.stdout, err: process.stderr });
  const stop = new AbortController();
  const told = {
    onProgress: (progress: LoadProgress) => reporter.progress(progress),
    ...(!flags.quiet && { onWarning: (warning: string) => complain(`warning: ${warning}`) }),
  };
  const ended = runLoad({ ...load.options, ...told }, reporter, stop.signal);
  const stopped = untilStopped({
    stop: async () => {
      stop.abort(new Interrupted('stopped before the first program was sent'));
      await ended;
    },
  });
  await Promise.race([ended, stopped]).catch((error: unknown) => {
    if (!(error instanceof LoadError)) throw error;
    // A target may echo the key that it was sent.
    const { apiKey } = load.options;
    const message = apiKey === undefined ? error.message : error.message.replaceAll(apiKey, '[key]');
    if (USAGE.has(error.code)) command.error(message);
    throw new LoadError(error.code, message);
  });
  const summary = await ended;
  const document = await reporter.finish(summary);
  if (!summary.complete) throw new Interrupted(`stopped with ${summary.programsUnfinished} programs under way`);
  judge(document);
  if (load.source.type === 'trace') faults.check(load.source.file, load.source.programs.length, false);
}

/** @throws Error for a run that counts as a failure, although it was measured */
function judge({ slo, targets }: LoadDocument): void {
  const missed = slo.filter(({ met }) => !met);
  if (missed.length > 0) throw new Error(`missed: ${missed.map(({ expression }) => expression).join(', ')}`);
  const failed = targets.find(({ programs, completed }) => programs > 0 && completed === 0);
  if (failed !== undefined) throw new Error(`no program of ${failed.programs} completed at ${failed.url}`);
}
