import { existsSync } from 'node:fs';
import { Option, type Command } from 'commander';
import { didYouMean } from '../../sidecar/config/index.js';
import { MARGIN } from '../../lab/index.js';
import { parseSlo, type Slo, SloError } from '../../loadtest/report/index.js';
import {
  type AgentProgram,
  type Arrivals,
  type FormatName,
  nameFindings,
  programs,
  recordedPrograms,
  type Workload,
  type WorkloadName,
  workloadFileSchema,
  WORKLOAD_NAMES,
  workloadOf,
  WORKLOADS,
} from '../../workloads/index.js';
import { readYaml } from '../files.js';
import { duration, numberFrom, wholeFrom } from '../options.js';
import { formatOption, type Faults } from '../trace-file.js';
import { loadsFrom, type NumberRange, type NumbersReader, orAuto } from './lists.js';
import { readRecording, type Kept, type Recording } from './recording.js';

/** Flags for the programs and their arrivals, common to all commands that run programs. */
export interface SourceFlags<Load = number> {
  readonly workload?: string;
  readonly trace?: string;
  readonly format?: FormatName;
  readonly rate?: Load | undefined;
  readonly cv?: number;
  readonly concurrency?: Load | undefined;
  readonly traceSpeed?: number;
  readonly programs?: number;
  readonly gapMax?: number;
}

/** A recording, or the name of a built-in workload or of a YAML file. */
export type ProgramSource = Recording | { readonly type: 'workload'; readonly workload: string };

const PROGRAMS_DEFAULT = 300;

/**
 * @param otherwise other conditions that end a run, for the help of `--programs`
 * @param canSearch whether loads may be looked for
 */
export function addSourceOptions(command: Command, { otherwise = '', canSearch = false } = {}): Command {
  // Commander gives a reader what it returned before.
  const load = (...range: NumberRange) =>
    (canSearch ? orAuto(loadsFrom(...range)) : loadsFrom(...range)) as NumbersReader;
  const more = canSearch ? ', or auto' : '';
  return command
    .optionsGroup('Programs and their arrivals:')
    .addOption(
      new Option('--workload <name>', 'synthetic programs: a name, or a YAML file')
        .choices(WORKLOAD_NAMES)
        .argParser((name) => name),
    )
    .addOption(new Option('--trace <file>', 'recorded programs, in any supported format').conflicts('workload'))
    .addOption(formatOption().conflicts('workload'))
    .option(
      `--rate <numbers>`,
      `programs that arrive per second, on average; several with commas, or 0.1..0.4 for five${more}`,
      load(1e-6, 1e6),
    )
    .option('--cv <number>', 'burstiness of arrivals: 0 is even, 1 Poisson (default: 1)', numberFrom(0, 10))
    .addOption(
      new Option('--concurrency <counts>', 'or: programs at a time; the next starts when one ends; several alike')
        .argParser(load(1, 1e6, 'a whole number'))
        .conflicts(['rate', 'cv']),
    )
    .option(
      '--trace-speed <factor>',
      'speed-up of recorded arrival times, at which a trace’s programs arrive by default (default: 1)',
      numberFrom(1e-6, 1e6),
    )
    .option(
      '--programs <count>',
      `programs per run (default: ${PROGRAMS_DEFAULT}, or all of a trace${otherwise})`,
      wholeFrom(1, 1e8),
    )
    .option('--gap-max <time>', 'longest gap between two calls, such as 60s; longer ones are cut to it', duration);
}

export const marginOption = (): Option =>
  new Option('--margin <share>', 'largest relative difference that does not matter')
    .argParser(numberFrom(0, 0.5))
    .default(MARGIN);

/**
 * The source of the programs; ends the command if its flags do not determine one.
 * @param signal stops the reading of a recording early
 * @throws ConfigError, TraceError or Error about the file that they name
 */
export async function readSource(
  command: Command,
  { workload, trace, format }: SourceFlags<unknown>,
  kept: Kept,
  faults: Faults,
  signal?: AbortSignal,
): Promise<ProgramSource> {
  if (trace !== undefined) {
    const recording = await readRecording(command, trace, { format, kept, signal }, faults);
    if (recording.programs.length === 0 && signal?.aborted !== true) command.error(`${trace}: no program in it`);
    return recording;
  }
  if (workload === undefined) return command.error('choose the programs: --workload or --trace');
  if (format !== undefined) command.error('--format needs a --trace');
  if (!isBuiltIn(workload) && !existsSync(workload))
    command.error(
      `--workload: ${workload} is neither a file nor one of ${WORKLOAD_NAMES.join(', ')}${didYouMean(workload, WORKLOAD_NAMES)}`,
    );
  if (workload.endsWith('.jsonl')) command.error(`--workload: ${workload} is a recording: --trace plays it`);
  openWorkload(workload);
  return { type: 'workload', workload };
}

const isBuiltIn = (name: string): name is WorkloadName => WORKLOAD_NAMES.some((each) => each === name);

/** The built-in workload of that name, or the one of a YAML file. @throws ConfigError with all problems of the file */
export const openWorkload = (nameOrFile: string): Workload =>
  isBuiltIn(nameOrFile)
    ? WORKLOADS[nameOrFile]
    : workloadOf(readYaml(nameOrFile, workloadFileSchema, (values) => nameFindings(values, didYouMean)));

/** Whether programs have tenants, among whom engine time can be divided. */
export const hasTenants = (source: ProgramSource): boolean =>
  source.type === 'trace'
    ? source.programs.some(({ tenant }) => tenant !== undefined)
    : openWorkload(source.workload).hasTenants === true;

/** The arrivals of the programs; ends the command if its flags do not determine them. */
export function readArrivals(command: Command, flags: SourceFlags, source: ProgramSource): Arrivals {
  const { rate, cv, concurrency, traceSpeed } = flags;
  const isTold = source.type === 'trace' && source.programs.every(({ arrivalMs }) => arrivalMs !== undefined);
  if (traceSpeed !== undefined && source.type !== 'trace') command.error('--trace-speed needs a --trace');
  if (rate !== undefined || concurrency !== undefined) {
    if (traceSpeed !== undefined)
      command.error('--trace-speed only applies to recorded arrival times: drop --rate and --concurrency');
    if (concurrency !== undefined) return { type: 'closed', concurrency };
    if (rate !== undefined) return { type: 'open', ratePerSecond: rate, cv: cv ?? 1 };
  }
  if (cv !== undefined) command.error('--cv needs a --rate');
  if (isTold) return { type: 'trace', speed: traceSpeed ?? 1 };
  if (traceSpeed !== undefined && source.type === 'trace')
    command.error(`${source.file} has no arrival times: set --rate or --concurrency`);
  return command.error(
    'set an arrival rate, such as --rate 0.5 (maitred sim --rate auto finds those that tell most), or how many programs run at a time, such as --concurrency 8',
  );
}

/** Number of programs; a recording with its own arrivals is not repeated. */
export function countOf({ programs }: SourceFlags<unknown>, source: ProgramSource, arrivals: Arrivals): number {
  if (source.type === 'workload') return programs ?? PROGRAMS_DEFAULT;
  const recorded = source.programs.length;
  return arrivals.type === 'trace' ? Math.min(programs ?? recorded, recorded) : (programs ?? recorded);
}

/** An objective, as `parseSlo` reads it; ends the command if it is none. */
export function readSlo(command: Command, text: string, targets: number, empty?: object): Slo {
  try {
    return parseSlo(text, targets, didYouMean, empty);
  } catch (error) {
    if (error instanceof SloError) command.error(`--slo: ${error.message}`);
    throw error;
  }
}

/** The programs of a run, drawn by its seed; those of a recording with its own arrivals, in their order. */
export function programsOf(source: ProgramSource, arrivals: Arrivals, seed: number): Iterable<AgentProgram> {
  if (source.type === 'workload') return programs(openWorkload(source.workload), seed);
  if (arrivals.type === 'trace') return source.programs.toSorted((a, b) => (a.arrivalMs ?? 0) - (b.arrivalMs ?? 0));
  return recordedPrograms(source.programs, seed);
}
