import { InvalidArgumentError, Option, type Command } from 'commander';
import { PROGRAM_STATES } from '../sidecar/admin/query.js';
import { tableWidth } from '../text/index.js';
import { URL_DEFAULT, addAdminOptions, adminClient, type AdminFlags } from './admin.js';
import { choice, duration, numberFrom } from './options.js';
import { SORT_KEYS } from './top/columns.js';
import { frame } from './top/frame.js';
import { showLive } from './top/live.js';
import { CHOICE, choiceOf, readSnapshot } from './top/snapshot.js';
import { explained } from './why.js';

interface TopFlags extends AdminFlags {
  readonly interval: number;
  readonly sort: string;
  readonly filter: string;
  readonly limit: number;
  readonly once: boolean;
}

const LEGEND = `
WAITS    the longest wait of a call now, and FOR what: window (the engine has as many calls as it takes), kv (no room
         in its KV cache), turn (calls ahead), knee (one more would slow all others); docs/INSPECT.md has the others
LVL      its queue: 0 goes first
QUEUED   the waits of all its calls, so with parallel calls more than its AGE
IDLE     since its last call; programs whose end nobody tells stay until their lease is over`;

/** Longest wait for an answer, in milliseconds. */
const TIMEOUT_MS = 5000;
/** As the gateway's own. */
const LIMIT = 100;
const LIMIT_MAX = 1000;
const SORTS = SORT_KEYS.flatMap((key) => [key, `-${key}`]);
const SORT = '-current_wait_seconds';

/** `maitred top`: the process table of a running gateway, live or once. */
export function addTopCommand(program: Command): void {
  const top = program.command('top').description('show the programs of a running gateway, live');
  addAdminOptions(top, URL_DEFAULT)
    .addOption(
      new Option('--interval <time>', 'time between updates, such as 500ms').argParser(interval).default(1000, '1s'),
    )
    .addOption(choice('--sort <key>', 'order of programs; with a minus sign, largest first', SORTS).default(SORT))
    .option(
      '--filter <words>',
      'programs whose names contain these; also tenant:NAME, engine:ID, state:active (or waiting, running, idle)',
      filter,
      '',
    )
    .option('--limit <count>', 'most programs to print once', numberFrom(1, LIMIT_MAX, 'a whole number'), LIMIT)
    .option('--once', 'print the table once and exit, as without a terminal', false)
    .addHelpText('after', LEGEND)
    .action((flags: TopFlags) => run(top, flags));
}

async function run(command: Command, flags: TopFlags): Promise<void> {
  const { url, sort, filter, interval: intervalMs } = flags;
  const client = adminClient(command, flags, TIMEOUT_MS);
  const read = (sort: string, offset: number, limit: number) => readSnapshot(client, { sort, filter, offset, limit });
  const why = async (key: string) => (await explained(client, key)).text;
  const { stdin: input, stdout: output } = process;
  const isTerminal = input.isTTY && output.isTTY && process.env['TERM'] !== 'dumb';
  if (isTerminal && !flags.once) return showLive({ read, why, url, sort, intervalMs, input, output });
  const lines = frame({ url, sort, snapshot: await read(sort, 0, flags.limit) }, tableWidth(output));
  process.stdout.write(lines.map((line) => `${line.trimEnd()}\n`).join(''));
}

function filter(words: string): string {
  if (words.split(/\s+/).some((word) => /^\w+:/.test(word) && !CHOICE.test(word)))
    throw new InvalidArgumentError('Words with a colon are tenant:NAME, engine:ID and state:STATE.');
  const { state = 'active' } = choiceOf(words);
  if (PROGRAM_STATES.includes(state)) return words;
  throw new InvalidArgumentError(`A state is one of ${PROGRAM_STATES.join(', ')}.`);
}

function interval(text: string): number {
  return Math.max(100, duration(text));
}
