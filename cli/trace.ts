import { createWriteStream, statSync } from 'node:fs';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { Command } from 'commander';
import {
  FORMAT_NAMES,
  openTrace,
  programLine,
  TraceError,
  TraceSummary,
  type FormatName,
  type Trace,
} from '../sim/index.js';
import { choice } from './choice.js';

/** Malformed records told one by one; the others are only counted. */
const TOLD_MAX = 20;

interface TraceFlags {
  readonly format?: FormatName;
}

interface ConvertFlags extends TraceFlags {
  readonly out: string;
  readonly strict: boolean;
}

/** `maitred trace`: recorded agent programs of any format, as our own and as a table. */
export function addTraceCommand(program: Command): void {
  const trace = program.command('trace').description('read recordings of agent programs');
  const convert = trace.command('convert').description('write a recording as the JSON lines of docs/PROGRAMS.md');
  convert
    .argument('<file>', 'recording, plain or packed by gzip')
    .addOption(format())
    .option('-o, --out <file>', 'where to; packed when its name ends in .gz, - is stdout', '-')
    .option('--strict', 'exit 1 when something had to be left out', false)
    .action((file: string, flags: ConvertFlags) => runConvert(convert, file, flags));
  const show = trace.command('show').description('print what the programs of a recording are like');
  show
    .argument('<file>', 'recording, plain or packed by gzip')
    .addOption(format())
    .action((file: string, flags: TraceFlags) => runShow(show, file, flags));
}

const format = () => choice('-f, --format <name>', 'its format (default: what its records look like)', FORMAT_NAMES);

async function runConvert(command: Command, file: string, { format, out, strict }: ConvertFlags): Promise<void> {
  const [from, to] = [file, out].map((path) => statSync(path, { throwIfNoEntry: false }));
  if (from !== undefined && from.dev === to?.dev && from.ino === to.ino) command.error('--out is the recording itself');
  const faults = new Faults();
  const { programs } = await open(command, file, format, faults);
  let written = 0;
  const lines = async function* () {
    for await (const program of programs) {
      written += 1;
      yield `${programLine(program)}\n`;
    }
  };
  if (out === '-') await writeAll(lines(), process.stdout);
  else if (out.endsWith('.gz')) await pipeline(lines, createGzip(), createWriteStream(out));
  else await pipeline(lines, createWriteStream(out));
  if (faults.count > 0) complain(`${file}: ${written} programs written, ${faults.count} malformed records left out`);
  faults.check(file, written, strict);
}

async function runShow(command: Command, file: string, { format }: TraceFlags): Promise<void> {
  const faults = new Faults();
  const trace = await open(command, file, format, faults);
  const summary = new TraceSummary();
  for await (const program of trace.programs) summary.add(program);
  process.stdout.write(`${file}: ${trace.format}\n\n${table(summary, faults.count)}\n`);
  faults.check(file, summary.programs, false);
}

async function open(command: Command, file: string, format: FormatName | undefined, faults: Faults): Promise<Trace> {
  if (statSync(file, { throwIfNoEntry: false }) === undefined) command.error(`there is no file ${file}`);
  try {
    return await openTrace(file, { format, onMalformed: (error) => faults.add(error) });
  } catch (error) {
    if (error instanceof TraceError && error.code === 'wrong_format') command.error(error.message);
    throw error;
  }
}

/** What had to be left out. */
class Faults {
  count = 0;
  #isCut = false;

  add(error: TraceError): void {
    this.count += 1;
    this.#isCut ||= error.code === 'unreadable';
    if (this.count <= TOLD_MAX) complain(error.message);
    if (this.count === TOLD_MAX + 1) complain('what else is malformed is only counted');
  }

  /** @throws Error when so much is missing that this is a failure. */
  check(file: string, programs: number, isStrict: boolean): void {
    if (programs === 0) throw new Error(`${file}: no program in it`);
    if (this.#isCut) throw new Error(`${file}: could not be read to its end`);
    if (isStrict && this.count > 0) throw new Error(`${file}: not all of it was taken`);
  }
}

/** Writes no faster than they are read at the other end. */
async function writeAll(texts: AsyncIterable<string>, to: Writable): Promise<void> {
  for await (const text of texts) {
    if (!to.write(text)) await new Promise((resolve) => to.once('drain', resolve));
  }
}

function table(summary: TraceSummary, faults: number): string {
  const { programs, calls, threads, promptTokens, sharedTokens } = summary;
  const { callsAProgram, promptTokensACall, outputTokensACall, gapMs } = summary;
  const share = promptTokens === 0 ? '-' : `${((100 * sharedTokens) / promptTokens).toFixed(1)} %`;
  const rows = [
    ['programs', whole(programs)],
    ['calls', whole(calls)],
    ['threads', whole(threads)],
    ['prompt tokens', whole(promptTokens)],
    ['shared with earlier calls', share],
    ['malformed', whole(faults)],
    [],
    ['', 'mean', 'median', 'p95'],
    ...(
      [
        ['calls a program', callsAProgram, 1],
        ['prompt tokens a call', promptTokensACall, 1],
        ['output tokens a call', outputTokensACall, 1],
        ['gap before a call, s', gapMs, 1000],
      ] as const
    ).map(([title, spread, unit]) => [
      title,
      ...[spread.mean, spread.quantile(0.5), spread.quantile(0.95)].map((value) => decimal(value / unit)),
    ]),
  ];
  return rows
    .map(([title = '', ...cells]) => `${title.padEnd(26)}${cells.map((cell) => cell.padStart(14)).join('')}`.trimEnd())
    .join('\n');
}

const whole = (value: number): string => value.toLocaleString('en-US');
const decimal = (value: number): string =>
  Number.isNaN(value) ? '-' : value.toLocaleString('en-US', { maximumFractionDigits: value < 100 ? 1 : 0 });

const complain = (text: string) => process.stderr.write(`maitred: ${text}\n`);
