import type { Command } from 'commander';
import { tableWidth } from '../text/index.js';
import { URL_DEFAULT, addAdminOptions, adminClient, type AdminClient, type AdminFlags } from './admin.js';
import { choice } from './choice.js';
import { duration } from './duration.js';
import { numberFrom } from './number.js';
import { SORT_KEYS } from './top/columns.js';
import { wholeFrame } from './top/frame.js';
import { textOf } from './top/line.js';
import { programsPath, readSnapshot } from './top/poll.js';
import { runSession } from './top/session.js';
import { makeView, ROWS_MAX, wishOf } from './top/view.js';

interface TopFlags extends AdminFlags {
  readonly interval: number;
  readonly sort: string;
  readonly filter: string;
  readonly limit?: number;
  readonly once: boolean;
  readonly json: boolean;
}

/** Longest wait for an answer, in milliseconds. */
const TIMEOUT_MS = 5000;
const SORTS = SORT_KEYS.flatMap((key) => [key, `-${key}`]);

/** `maitred top`: the process table of a running gateway, live or once. */
export function addTopCommand(program: Command): void {
  const top = program.command('top').description('show the programs, engines and queues of a running gateway, live');
  addAdminOptions(top, URL_DEFAULT)
    .option('--interval <time>', 'time between updates', interval, 1000)
    .addOption(
      choice('--sort <key>', 'order of programs; with a minus sign, largest first', SORTS).default(
        '-current_wait_seconds',
      ),
    ) // prettier-ignore
    .option(
      '--filter <words>',
      'programs whose names contain these words; also tenant:NAME, engine:ID, state:waiting',
      '',
    )
    .option('--limit <count>', 'most programs to print', numberFrom(1, ROWS_MAX, 'a whole number'))
    .option('--once', 'print one snapshot and exit, as without a terminal', false)
    .option('--json', 'print one snapshot as JSON: the answers of /engines, /queue and /programs', false)
    .action((flags: TopFlags) => run(top, flags));
}

async function run(command: Command, flags: TopFlags): Promise<void> {
  const { url } = flags;
  const client = adminClient(command, flags, TIMEOUT_MS);
  const { stdin, stdout } = process;
  if (flags.json) return printJson(client, flags);
  const isTerminal = stdin.isTTY && stdout.isTTY && process.env['TERM'] !== 'dumb';
  if (flags.once || !isTerminal) return printOnce(client, flags);
  const view = makeView(flags.sort, flags.filter);
  await runSession({ client, url, view, intervalMs: flags.interval, input: stdin, output: stdout });
}

async function printOnce(client: AdminClient, { url, sort, filter, limit }: TopFlags): Promise<void> {
  const view = makeView(sort, filter);
  const wish = wishOf(view);
  const snapshot = await readSnapshot(client, { ...wish, limit: limit ?? wish.limit });
  const scene = { url, snapshot, view, nowSeconds: Date.now() / 1000, away: undefined };
  const lines = wholeFrame(scene, tableWidth(process.stdout)).map((line) => textOf(line).trimEnd());
  process.stdout.write(`${lines.join('\n')}\n`);
}

async function printJson(client: AdminClient, { url, sort, filter, limit }: TopFlags): Promise<void> {
  const wish = wishOf(makeView(sort, filter));
  const [engines, queue, programs] = await Promise.all(
    ['/engines', '/queue', programsPath({ ...wish, limit: limit ?? wish.limit })].map((path) => client.json(path)),
  );
  const document = { url, time: new Date().toISOString(), ...(engines as object), queue, ...(programs as object) };
  process.stdout.write(`${JSON.stringify(document, undefined, 2)}\n`);
}

function interval(text: string): number {
  return Math.max(100, duration(text));
}
