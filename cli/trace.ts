import { createWriteStream, statSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { Command } from 'commander';
import { type FormatName, programLine } from '../workloads/index.js';
import { checkWritable } from './files.js';
import { complain } from './complain.js';
import { Faults, formatOption, openTraceFile } from './trace-file.js';

interface ConvertFlags {
  readonly format?: FormatName;
  readonly out: string;
  readonly strict: boolean;
}

export function addTraceCommand(program: Command): void {
  const trace = program.command('trace').description('convert recordings of agent programs');
  const convert = trace.command('convert').description('convert a recording into the JSON lines of docs/JSON.md');
  convert
    .argument('<file>', 'recording, plain or gzipped')
    .addOption(formatOption())
    .option('-o, --out <file>', 'file to write, gzipped if its name ends in .gz; - is stdout', '-')
    .option('--strict', 'exit 1 if anything was skipped', false)
    .action((file: string, flags: ConvertFlags) => runConvert(convert, file, flags));
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
  if (out === '-') await pipeline(lines, process.stdout, { end: false });
  else if (out.endsWith('.gz')) await pipeline(lines, createGzip(), createWriteStream(out));
  else await pipeline(lines, createWriteStream(out));
  if (out !== '-') complain(`wrote ${out}`);
  if (faults.count > 0) complain(`${file}: programs written: ${written}, malformed records left out: ${faults.count}`);
  faults.check(file, written, strict);
}
