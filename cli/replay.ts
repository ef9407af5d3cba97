import type { Command } from 'commander';
import { plain } from '../text/index.js';
import { readRecords, TraceError } from '../workloads/index.js';
import type { LogLine } from '../src/index.js';
import { checkReadable } from './files.js';
import { CoreReplay, ReplayFault, type Difference } from './core-replay.js';
import { ExpectedDifference } from './expected-difference.js';

/** Steps shown before the one that differs. */
const CONTEXT = 4;
/** Commands shown on either side of the differing one, as a step may have thousands, and the longest text of one. */
const BESIDE = 3;
const CHARS_MAX = 400;

/** The result of replaying a log. */
interface Outcome {
  readonly replay: CoreReplay | undefined;
  readonly difference: (Difference & { readonly line: number; readonly before: readonly Seen[] }) | undefined;
  readonly problem: TraceError | undefined;
}

interface Seen {
  readonly line: number;
  readonly step: LogLine;
}

/** `maitred replay`: given the steps of a gateway's event log, the scheduler core must issue the same commands. */
export function addReplayCommand(program: Command): void {
  const command = program
    .command('replay')
    .description('replay an event log of `maitred serve --record` and compare every command')
    .argument('<file>', 'event log, plain or gzipped')
    .option('--json', 'print one JSON document', false);
  command.action(async (file: string, { json }: { readonly json: boolean }) => {
    checkReadable(command, file);
    const outcome = await replayFile(file);
    const { replay, difference, problem } = outcome;
    const { changes = [] } = replay ?? {};
    process.stdout.write(json ? `${JSON.stringify(documentOf(outcome))}\n` : plain(textOf(outcome)));
    if (difference !== undefined && changes.length > 0) {
      for (const { behaviour, change, differs } of changes)
        complain(`behaviour ${behaviour}: ${change} Differs: ${differs}`);
      throw new ExpectedDifference(
        `${file}, line ${difference.line}: differs, as is expected of a log of behaviour ${replay?.behaviour}`,
      );
    }
    if (difference !== undefined) throw new Error(`${file}, line ${difference.line}: not what the core does`);
    if (problem?.code === 'unreadable' && replay !== undefined)
      throw new Error(`${problem.message}; does its gateway still run? It ends its log when it stops`);
    if (problem !== undefined) throw problem;
    if (replay?.ended === undefined) complain(`${file} has no end: its gateway was killed, or still runs`);
    else if (replay.ended === 'behind') complain(`${file} ends early: its disk was too slow`);
  });
}

async function replayFile(file: string): Promise<Outcome> {
  let replay: CoreReplay | undefined;
  let problem: TraceError | undefined;
  const before: Seen[] = [];
  const outcome = (difference?: Outcome['difference']): Outcome => ({ replay, difference, problem });
  try {
    for await (const record of readRecords(file)) {
      // A malformed line that is not the last one.
      if (problem !== undefined) return outcome();
      if (record instanceof TraceError) {
        problem = record;
        continue;
      }
      const { place, value } = record;
      try {
        if (replay === undefined) {
          replay = new CoreReplay(value);
          continue;
        }
        const { step, difference } = replay.take(value);
        if (difference !== undefined) return outcome({ ...difference, line: place.number, before });
        before.push({ line: place.number, step });
        if (before.length > CONTEXT) before.shift();
      } catch (error) {
        if (!(error instanceof ReplayFault)) throw error;
        problem = record.fault(error.field, error.message);
        return outcome();
      }
    }
  } catch (error) {
    // The rest cannot be read: a truncated archive.
    if (!(error instanceof TraceError)) throw error;
    problem = error;
    return outcome();
  }
  if (problem?.code === 'not_json' && replay !== undefined) {
    problem = new TraceError('unreadable', file, problem.place, '', 'the log is cut in this line');
  }
  if (replay === undefined) problem ??= new TraceError('empty', file, undefined, '', 'nothing in it');
  return outcome();
}

/** The identical part, or the first difference and the steps before it, for people. */
function textOf({ replay, difference, problem }: Outcome): string {
  if (replay === undefined) return '';
  const { steps, commands } = replay;
  if (difference === undefined) {
    const where = problem === undefined ? '' : ' as far as it can be read';
    return `identical${where}: ${count(steps, 'step')}, ${count(commands, 'command')}\n`;
  }
  const { line, before, step, field, recorded, replayed } = difference;
  // The path begins with `commands` and an index.
  const at = Number(field.split('.')[1] ?? 0);
  const refused = difference.commands === undefined ? [['refused', String(replayed)]] : [];
  const rows = [
    ...before.flatMap((each) => stepRows(each.line, each.step)),
    ...stepRows(line, step),
    ...commandRows('recorded', step.commands, at),
    ...commandRows('replayed', difference.commands ?? [], at),
    ...(refused.length > 0 ? refused : [['differs', `${field}: ${json(recorded)} became ${json(replayed)}`]]),
  ];
  const width = Math.max(...rows.map(([title = '']) => title.length)) + 2;
  const lines = rows.map(([title = '', text = '']) => (title.padEnd(width) + clipped(text)).trimEnd());
  return `different, after ${count(steps, 'step')} that are identical\n\n${lines.join('\n')}\n`;
}

type Row = readonly [title: string, text: string];

function stepRows(line: number, step: LogLine): Row[] {
  if (!('commands' in step)) return [];
  const told = 'event' in step ? step.event : { settings: step.settings };
  return [[`line ${line}`, `${step.now} ${json(told)}`]];
}

function commandRows(title: string, commands: readonly unknown[], at: number): Row[] {
  const from = Math.max(0, at - BESIDE);
  const shown = commands.slice(from, at + BESIDE + 1);
  if (shown.length === 0) return [[title, 'nothing']];
  return shown.map((command, index) => [index === 0 ? title : '', `${from + index} ${json(command)}`]);
}

/** The same for programs. */
function documentOf({ replay, difference, problem }: Outcome): object {
  return {
    version: 1,
    identical: difference === undefined && problem === undefined,
    steps: replay?.steps ?? 0,
    commands: replay?.commands ?? 0,
    ended: replay?.ended ?? null,
    recorded_by: replay?.recordedBy ?? null,
    behaviour: replay?.behaviour ?? null,
    changes: replay?.changes ?? [],
    difference:
      difference === undefined
        ? null
        : {
            line: difference.line,
            field: difference.field,
            recorded: difference.recorded ?? null,
            replayed: difference.replayed ?? null,
            step: difference.step,
            commands: difference.commands ?? null,
            before: difference.before,
          },
    problem:
      problem === undefined
        ? null
        : { line: problem.place?.number ?? null, field: problem.field, code: problem.code, message: problem.message },
  };
}

const count = (value: number, what: string) => `${value.toLocaleString('en-US')} ${what}${value === 1 ? '' : 's'}`;
const json = (value: unknown) => (value === undefined ? 'nothing' : JSON.stringify(value));
const clipped = (text: string) => (text.length > CHARS_MAX ? `${text.slice(0, CHARS_MAX)} ...` : text);
const complain = (text: string) => process.stderr.write(`maitred: ${text}\n`);
