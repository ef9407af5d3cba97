import { createWriteStream, statSync } from 'node:fs';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { Command } from 'commander';
import { plain } from '../text/index.js';
import { TraceSummary } from '../lab/index.js';
import { type FormatName, programLine } from '../workloads/index.js';
import { checkWritable } from './files.js';
import { complain, Faults, formatOption, openTraceFile } from './trace-file.js';

interface TraceFlags {
  readonly format?: FormatName;
}

interface ConvertFlags extends TraceFlags {
  readonly out: string;
  readonly strict: boolean;
}

/** `maitred trace`: recorded agent programs of any format, converted to our own, or as a table. */
export function addTraceCommand(program: Command): void {
  const trace = program.command('trace').description('read and convert recordings of agent programs');
  const convert = trace.command('convert').description('convert a recording into the JSON lines of docs/JSON.md');
  convert
    .argument('<file>', 'recording, plain or gzipped')
    .addOption(formatOption())
    .option('-o, --out <file>', 'file to write, gzipped if its name ends in .gz; - is stdout', '-')
    .option('--strict', 'exit 1 if anything was skipped', false)
    .action((file: string, flags: ConvertFlags) => runConvert(convert, file, flags));
  const show = trace.command('show').description('summarise the programs of a recording');
  show
    .argument('<file>', 'recording, plain or gzipped')
    .addOption(formatOption())
    .action((file: string, flags: TraceFlags) => runShow(show, file, flags));
}

async function runConvert(command: Command, file: string, { format, out, strict }: ConvertFlags): Promise<void> {
  const faults = new Faults();
  if (out !== '-') checkWritable(command, out);
  const { programs } = await openTraceFile(command, file, format, faults);
  const [from, to] = [file, out].map((path) => statSync(path, { throwIfNoEntry: false }));
  if (from !== undefined && from.dev === to?.dev && from.ino === to.ino) command.error('--out is the recording itself');
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
  if (out !== '-') complain(`wrote ${out}`);
  if (faults.count > 0) complain(`${file}: programs written: ${written}, malformed records left out: ${faults.count}`);
  faults.check(file, written, strict);
}

async function runShow(command: Command, file: string, { format }: TraceFlags): Promise<void> {
  const faults = new Faults();
  const trace = await openTraceFile(command, file, format, faults);
  const summary = new TraceSummary();
  for await (const program of trace.programs) summary.add(program);
  process.stdout.write(plain(`${file}: ${trace.format}\n\n${table(summary, faults.count)}\n`));
  faults.check(file, summary.programs, false);
}

/** Writes no faster than the reader at the other end reads. */
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
      ...[spread.mean, spread.percentile(0.5), spread.percentile(0.95)].map((value) => decimal(value / unit)),
    ]),
  ];
  return rows
    .map(([title = '', ...cells]) => `${title.padEnd(26)}${cells.map((cell) => cell.padStart(14)).join('')}`.trimEnd())
    .join('\n');
}

const whole = (value: number): string => value.toLocaleString('en-US');
const decimal = (value: number): string =>
  Number.isNaN(value) ? '-' : value.toLocaleString('en-US', { maximumFractionDigits: value < 100 ? 1 : 0 });
