import type { Command } from 'commander';
import { counted, plain } from '../text/index.js';
import { readRecords, TraceError } from '../workloads/index.js';
import { CoreReplay, ReplayFault, type Difference } from './core-replay.js';
import { checkReadable } from './files.js';
import { complain, ExpectedDifference } from './complain.js';

/** Longest text of an event or a value. */
const CHARS_MAX = 400;

/** A replay up to the first difference, the first line that cannot be replayed, or the end of the log. */
interface Outcome {
  /** Undefined: there is not even a header. */
  readonly replay: CoreReplay | undefined;
  readonly difference?: Difference & { readonly line: number };
  readonly problem?: TraceError;
}

export function addReplayCommand(program: Command): void {
  const command = program
    .command('replay')
    .description('replay an event log of serve --record, and compare every command')
    .argument('<file>', 'event log, plain or gzipped');
  command.action(async (file: string) => {
    checkReadable(command, file);
    const outcome = await replayFile(file);
    process.stdout.write(plain(textOf(outcome)));
    fail(file, outcome);
  });
}

async function replayFile(file: string): Promise<Outcome> {
  let replay: CoreReplay | undefined;
  try {
    for await (const record of readRecords(file)) {
      if (record instanceof TraceError) throw record;
      const { place, value } = record;
      try {
        const difference = replay?.take(value);
        replay ??= new CoreReplay(value);
        if (difference !== undefined) return { replay, difference: { ...difference, line: place.number } };
      } catch (error) {
        throw error instanceof ReplayFault ? record.fault(error.field, error.message) : error;
      }
    }
    if (replay === undefined) throw new TraceError('empty', file, undefined, '', 'nothing in it');
    return { replay };
  } catch (error) {
    // A truncated archive cannot be read further.
    if (!(error instanceof TraceError)) throw error;
    return { replay, problem: error };
  }
}

/** @throws Error unless the log is whole, as far as it goes, and identical */
function fail(file: string, { replay, difference, problem }: Outcome): void {
  const { changes = [], behaviour, ended } = replay ?? {};
  if (difference !== undefined && changes.length > 0) {
    for (const { behaviour, change, differs } of changes)
      complain(`behaviour ${behaviour}: ${change} Differs: ${differs}`);
    throw new ExpectedDifference(
      `${file}, line ${difference.line}: differs, as is expected of a log of behaviour ${behaviour}`,
    );
  }
  if (difference !== undefined) throw new Error(`${file}, line ${difference.line}: not what the core does`);
  if (replay !== undefined && (problem?.code === 'unreadable' || problem?.code === 'not_json'))
    throw new Error(`${problem.message}; does its gateway still run? It ends its log when it stops`);
  if (problem !== undefined) throw problem;
  if (ended === undefined) complain(`${file} has no end: its gateway was killed, or still runs`);
  else if (ended === 'behind') complain(`${file} ends early: its disk was too slow`);
}

function textOf({ replay, difference, problem }: Outcome): string {
  if (replay === undefined) return '';
  const { steps, commands } = replay;
  const same = `${counted(steps, 'step')}, ${counted(commands, 'command')}`;
  if (difference === undefined)
    return `identical${problem === undefined ? '' : ' as far as it can be read'}: ${same}\n`;
  const { line, step, field, recorded, replayed } = difference;
  const told = 'event' in step ? step.event : { settings: step.settings };
  const what =
    field === '' ? `refused: ${String(replayed)}` : `${field}: ${clipped(recorded)} became ${clipped(replayed)}`;
  return `different, after ${same} that are identical\n\nline ${line}: ${step.now} ${clipped(told)}\n${what}\n`;
}

function clipped(value: unknown): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value);
  return text.length > CHARS_MAX ? `${text.slice(0, CHARS_MAX)} ...` : text;
}
