import { InvalidArgumentError, Option, type Command } from 'commander';
import { LIMIT, LIMIT_MAX } from '../sidecar/admin/query.js';
import { tableWidth } from '../text/index.js';
import { URL_DEFAULT, addAdminOptions, adminClient, type AdminFlags } from './admin.js';
import { choice, duration, wholeFrom } from './options.js';
import { legend, SORT_KEYS, SORT_TITLES, sortKeyOf } from './top/columns.js';
import { frame } from './top/frame.js';
import { showLive } from './top/live.js';
import { faultIn, readSnapshot, type Wish } from './top/snapshot.js';
import { explained } from './why.js';

interface TopFlags extends AdminFlags {
  readonly interval: number;
  readonly sort: string;
  readonly filter: string;
  readonly limit: number;
  readonly once: boolean;
}

const TIMEOUT_MS = 5000;
const bothWays = (names: readonly string[]) => names.flatMap((name) => [name, `-${name}`]);
const SORT = choice(
  '--sort <column>',
  'order of programs; with a minus sign, largest first',
  bothWays(SORT_TITLES),
  ...bothWays(SORT_KEYS),
);

export function addTopCommand(program: Command): void {
  const top = program.command('top').description('show the programs of a running gateway, live');
  addAdminOptions(top, URL_DEFAULT)
    .addOption(
      new Option('--interval <time>', 'time between updates, such as 500ms')
        .argParser((text) => Math.max(100, duration(text)))
        .default(1000, '1s'),
    )
    .addOption(SORT.default('-waits'))
    .option(
      '--filter <words>',
      'programs whose names contain these; also tenant:NAME, engine:ID, state:active (or waiting, ending, running, idle)',
      filter,
      '',
    )
    .option('--limit <count>', 'most programs to print once', wholeFrom(1, LIMIT_MAX), LIMIT)
    .option('--once', 'print the table once and exit, as without a terminal', false)
    .addHelpText('after', `\n${legend(80).join('\n')}`)
    .action((flags: TopFlags) => run(top, flags));
}

async function run(command: Command, flags: TopFlags): Promise<void> {
  const { url, filter, interval: intervalMs } = flags;
  const sort = sortKeyOf(flags.sort);
  const client = adminClient(command, flags, TIMEOUT_MS);
  const read = (wish: Wish) => readSnapshot(client, wish);
  const why = async (key: string) => (await explained(client, key)).text;
  const { stdin: input, stdout: output } = process;
  const isTerminal = input.isTTY && output.isTTY && process.env['TERM'] !== 'dumb';
  if (isTerminal && !flags.once) return showLive({ read, why, url, sort, filter, intervalMs, input, output });
  const snapshot = await read({ sort, filter, offset: 0, limit: flags.limit });
  const lines = frame({ url, sort, snapshot }, tableWidth(output));
  process.stdout.write(lines.map((line) => `${line.trimEnd()}\n`).join(''));
}

function filter(words: string): string {
  const fault = faultIn(words);
  if (fault !== undefined) throw new InvalidArgumentError(fault);
  return words;
}
