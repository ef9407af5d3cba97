import type { Command } from 'commander';
import { statSync } from 'node:fs';
import { TraceError } from '../sim/index.js';
import { readRecords } from '../sim/traces/records.js';
import { logLine, type LogLine } from '../src/index.js';
import { CoreReplay, ReplayFault, type Difference } from './core-replay.js';

/** Steps shown before the one that differs. */
const CONTEXT = 4;
/** Longest text of one step that is shown, as one may hold thousands of commands. */
const SHOWN_MAX = 600;

/** What came of a log. */
interface Outcome {
  readonly replay: CoreReplay | undefined;
  /** It holds all that its gateway did to its end. */
  readonly isComplete: boolean;
  readonly difference: (Difference & { readonly line: number; readonly before: readonly Seen[] }) | undefined;
  readonly problem: TraceError | undefined;
}

interface Seen {
  readonly line: number;
  readonly step: LogLine;
}

/** `maitred replay`: the scheduler core, told again what a gateway's event log says, must command the same. */
export function addReplayCommand(program: Command, version: string): void {
  const command = program
    .command('replay')
    .description('replay an event log of `maitred serve --record` and compare every command')
    .argument('<file>', 'event log, plain or packed by gzip')
    .option('--json', 'print one JSON document', false);
  command.action(async (file: string, { json }: { readonly json: boolean }) => {
    if (statSync(file, { throwIfNoEntry: false }) === undefined) command.error(`there is no file ${file}`);
    const outcome = await replayFile(file);
    const { replay, difference, problem } = outcome;
    if (replay !== undefined && replay.recordedBy !== version) {
      complain(
        `${file} was recorded by maitred ${replay.recordedBy}, this is ${version}: its core may decide otherwise`,
      );
    }
    process.stdout.write(json ? `${JSON.stringify(documentOf(outcome))}\n` : textOf(outcome));
    if (difference !== undefined) throw new Error(`${file}, line ${difference.line}: not what the core does`);
    if (problem !== undefined) throw problem;
    if (!outcome.isComplete) complain(`${file} has no end: its gateway was killed, or still runs`);
    else if (replay?.ended === 'behind') complain(`${file} ends early: its disk was too slow`);
  });
}

async function replayFile(file: string): Promise<Outcome> {
  let replay: CoreReplay | undefined;
  const before: Seen[] = [];
  const outcome = (rest: Partial<Outcome> = {}): Outcome => ({
    replay,
    isComplete: replay?.ended !== undefined,
    difference: undefined,
    problem: undefined,
    ...rest,
  });
  try {
    for await (const record of readRecords(file)) {
      if (record instanceof TraceError) return outcome({ problem: record });
      const { place, value } = record;
      try {
        if (replay === undefined) {
          replay = new CoreReplay(value);
          continue;
        }
        const { step, difference } = replay.take(value);
        if (difference !== undefined) return outcome({ difference: { ...difference, line: place.number, before } });
        before.push({ line: place.number, step });
        if (before.length > CONTEXT) before.shift();
      } catch (error) {
        if (!(error instanceof ReplayFault)) throw error;
        return outcome({ problem: record.fault(error.field, error.message) });
      }
    }
  } catch (error) {
    // The rest of it cannot be read: an archive that was cut.
    if (error instanceof TraceError) return outcome({ problem: error });
    throw error;
  }
  if (replay === undefined) return outcome({ problem: new TraceError('empty', file, undefined, '', 'nothing in it') });
  return outcome();
}

/** The first difference, or what was the same, for people. */
function textOf({ replay, difference, problem }: Outcome): string {
  if (replay === undefined) return '';
  const { steps, commands } = replay;
  if (difference === undefined) {
    const where = problem === undefined ? '' : ' as far as it can be read';
    return `identical${where}: ${count(steps, 'step')}, ${count(commands, 'command')}\n`;
  }
  const { line, before, step, field, recorded, replayed } = difference;
  const rows = [
    ...before.map((each) => [`line ${each.line}`, logLine(each.step)]),
    [`line ${line}`, logLine(step)],
    ['replayed', typeof difference.commands === 'string' ? difference.commands : JSON.stringify(difference.commands)],
    ['differs', `${field}: ${shown(recorded)} was recorded, ${shown(replayed)} is replayed`],
  ];
  const width = Math.max(...rows.map(([title = '']) => title.length)) + 2;
  const lines = rows.map(([title = '', text = '']) => title.padEnd(width) + clipped(text));
  return `different, after ${count(steps, 'step')} that are identical\n\n${lines.join('\n')}\n`;
}

/** The same for programs. */
function documentOf({ replay, isComplete, difference, problem }: Outcome): object {
  return {
    version: 1,
    identical: difference === undefined && problem === undefined,
    steps: replay?.steps ?? 0,
    commands: replay?.commands ?? 0,
    complete: isComplete,
    recorded_by: replay?.recordedBy ?? null,
    difference:
      difference === undefined
        ? null
        : {
            line: difference.line,
            field: difference.field,
            recorded: difference.recorded ?? null,
            replayed: difference.replayed ?? null,
            step: difference.step,
            commands: difference.commands,
            before: difference.before,
          },
    problem:
      problem === undefined
        ? null
        : { line: problem.place?.number ?? null, field: problem.field, code: problem.code, message: problem.message },
  };
}

const count = (value: number, what: string) => `${value.toLocaleString('en-US')} ${what}${value === 1 ? '' : 's'}`;
const shown = (value: unknown) => (value === undefined ? 'nothing' : clipped(JSON.stringify(value)));
const clipped = (text: string) => (text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)} ...` : text);
const complain = (text: string) => process.stderr.write(`maitred: ${text}\n`);
