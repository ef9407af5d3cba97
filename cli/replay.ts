import type { Command } from 'commander';
import { plain } from '../text/index.js';
import { readRecords, TraceError } from '../workloads/index.js';
import { CoreReplay, ReplayFault, type Difference } from './core-replay.js';
import { ExpectedDifference } from './expected-difference.js';
import { checkReadable } from './files.js';
import { complain } from './trace-file.js';

/** Commands shown on either side of the differing one, as a step may have thousands, and the longest text of one. */
const BESIDE = 3;
const CHARS_MAX = 400;

/** A replay up to the first difference, the first line that cannot be replayed, or the end of the log. */
interface Outcome {
  /** Undefined: there is not even a header. */
  readonly replay: CoreReplay | undefined;
  readonly difference?: Difference & { readonly line: number };
  readonly problem?: TraceError;
}

/** `maitred replay`: given the steps of a gateway's event log, the scheduler core must issue the same commands. */
export function addReplayCommand(program: Command): void {
  const command = program
    .command('replay')
    .description('replay an event log of `maitred serve --record` and compare every command')
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
      if (record instanceof TraceError) return { replay, problem: record };
      const { place, value } = record;
      try {
        if (replay === undefined) replay = new CoreReplay(value);
        else {
          const difference = replay.take(value);
          if (difference !== undefined) return { replay, difference: { ...difference, line: place.number } };
        }
      } catch (error) {
        if (!(error instanceof ReplayFault)) throw error;
        return { replay, problem: record.fault(error.field, error.message) };
      }
    }
  } catch (error) {
    // The rest cannot be read: a truncated archive.
    if (!(error instanceof TraceError)) throw error;
    return { replay, problem: error };
  }
  return replay === undefined
    ? { replay, problem: new TraceError('empty', file, undefined, '', 'nothing in it') }
    : { replay };
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

/** The identical part, and the first difference. */
function textOf({ replay, difference, problem }: Outcome): string {
  if (replay === undefined) return '';
  const { steps, commands } = replay;
  const same = `${count(steps, 'step')}, ${count(commands, 'command')}`;
  if (difference === undefined)
    return `identical${problem === undefined ? '' : ' as far as it can be read'}: ${same}\n`;
  const { line, step, field, recorded, replayed } = difference;
  // The path begins with `commands` and an index.
  const at = Number(field.split('.')[1] ?? 0);
  const told = 'event' in step ? step.event : { settings: step.settings };
  const rows: Row[] = [
    [`line ${line}`, `${step.now} ${json(told)}`],
    ...commandRows('recorded', step.commands, at),
    ...commandRows('replayed', difference.commands ?? [], at),
    difference.commands === undefined
      ? ['refused', String(replayed)]
      : ['differs', `${field}: ${json(recorded)} became ${json(replayed)}`],
  ];
  const width = Math.max(...rows.map(([title]) => title.length)) + 2;
  const lines = rows.map(([title, text]) => (title.padEnd(width) + clipped(text)).trimEnd());
  return `different, after ${same} that are identical\n\n${lines.join('\n')}\n`;
}

type Row = readonly [title: string, text: string];

function commandRows(title: string, commands: readonly unknown[], at: number): Row[] {
  const from = Math.max(0, at - BESIDE);
  const shown = commands.slice(from, at + BESIDE + 1);
  if (shown.length === 0) return [[title, 'nothing']];
  return shown.map((command, index) => [index === 0 ? title : '', `${from + index} ${json(command)}`]);
}

const count = (value: number, what: string) => `${value.toLocaleString('en-US')} ${what}${value === 1 ? '' : 's'}`;
const json = (value: unknown) => (value === undefined ? 'nothing' : JSON.stringify(value));
const clipped = (text: string) => (text.length > CHARS_MAX ? `${text.slice(0, CHARS_MAX)} ...` : text);
