import type { Command } from 'commander';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EngineList } from '../sidecar/admin/answers.js';
import { keyRemedy } from '../sidecar/admin/engine-words.js';
import { plain, span } from '../text/index.js';
import { OWN_NAME, addExamples } from './advice.js';
import { AdminError, URL_DEFAULT, addAdminOptions, adminClient, type AdminFlags } from './admin.js';
import { complain } from './complain.js';
import { secretIn, wholeFrom } from './options.js';
import { fitted, printable, widthOf, wrapped } from './text.js';

type AddFlags = AdminFlags &
  Partial<Record<'id' | 'kind' | 'apiKey', string> & Record<'window' | 'capacityTokens', number>>;

type ForceFlags = AdminFlags & { readonly force?: true };

type Row = EngineList['engines'][number];

export function addEnginesCommand(program: Command): void {
  const engines = program
    .command('engines')
    .description('list, add, remove, drain and undrain the engines of a running gateway');
  addExamples(engines, {
    engines: 'list them',
    'engines add http://gpu-3:8000 --id gpu-3': 'add one, until the next start or reload',
    'engines drain gpu-3': 'send it no new calls, then look until none is in flight',
  });
  const list = engines.command('list', { isDefault: true }).description(`the same as \`${OWN_NAME} engines\` alone`);
  addAdminOptions(list, URL_DEFAULT)
    .option('--json', 'print the admin API’s answer')
    .usage('[options]')
    .argument('[subcommand...]')
    .action(([unknown]: readonly string[], { json, ...flags }: AdminFlags & { readonly json?: true }) => {
      const isKnown = engines.commands.some((each) => each.name() === unknown);
      if (unknown !== undefined)
        list.error(
          isKnown
            ? `put '${unknown}' before its options: ${OWN_NAME} engines ${unknown} …`
            : `unknown subcommand '${unknown}': list, add, remove, drain or undrain, then its options`,
        );
      return printEngines(list, flags, json);
    });
  const add = engines.command('add').description('add an engine until the next start or reload').argument('<url>');
  addAdminOptions(add, URL_DEFAULT)
    .option('--id <name>', 'its name (default: host:port)')
    .option('--kind <kind>', 'its server, such as vllm (default: found by asking it)')
    .option('--api-key <variable>', 'environment variable that holds the key which it wants')
    .option('--capacity-tokens <tokens>', 'size of its KV cache, if it does not report it', wholeFrom(1, 1e12))
    .option('--window <calls>', 'most calls in flight (default: learned)', wholeFrom(1, 100_000))
    .action(async (engineUrl: string, { apiKey, url, token, ...own }: AddFlags) => {
      const key = apiKey === undefined ? undefined : secretIn(add, '--api-key', apiKey);
      const asked = { url: engineUrl, apiKey: key, ...own };
      const client = adminClient(add, { url, ...(token !== undefined && { token }) });
      let row = (await client.json('/engines', 'POST', asked)) as Row;
      for (let left = 25; left > 0 && row.state === 'starting'; left -= 1) {
        await sleep(200);
        row = (await client.json(pathOf(row.id))) as Row;
      }
      const { id: name, state, down_reason: reason, capacity_tokens: capacity } = row;
      const remedy =
        keyRemedy(reason) === undefined
          ? 'it stays, and is asked again until it answers'
          : 'remove it, and add it with its key: --api-key VARIABLE';
      process.stdout.write(plain(`${name} is ${state}${reason === null ? '' : `: ${reason}; ${remedy}`}\n`));
      if (state === 'up' && capacity === null)
        complain(
          `${name} has a KV cache of unknown size, so no gate protects it: remove it, and add it with --capacity-tokens`,
        );
    });
  for (const [verb, description, method, path] of [
    ['remove', 'drain an engine, then forget it', 'DELETE', ''],
    ['drain', 'send it no new calls; running ones finish', 'POST', '/drain'],
    ['undrain', 'return a drained engine to service', 'POST', '/undrain'],
  ] as const) {
    const command = engines
      .command(verb)
      .description(description)
      .argument('<id>', `as \`${OWN_NAME} engines\` shows it`);
    if (verb !== 'undrain')
      command.option('--force', 'also the last one in service for a model, whose calls then fail');
    addAdminOptions(command, URL_DEFAULT).action(async (id: string, { force, ...flags }: ForceFlags) => {
      const client = adminClient(command, flags);
      const row = (await client.json(pathOf(id) + path + (force ? '?force' : ''), method)) as Row;
      const state = `is ${row.state}, ${row.in_flight} in flight`;
      process.stdout.write(plain(`${id} ${verb === 'remove' ? 'drains, and is then forgotten' : state}\n`));
    });
  }
}

const pathOf = (id: string): string => `/engines/${encodeURIComponent(id)}`;

async function printEngines(command: Command, flags: AdminFlags, json = false): Promise<void> {
  const body = await adminClient(command, flags).json('/engines');
  const { engines } = body as Partial<EngineList>;
  if (!Array.isArray(engines))
    throw new AdminError('/engines answered in an unknown shape: is this gateway of another version?');
  process.stdout.write(json ? `${JSON.stringify(body)}\n` : tableOf(engines));
}

export function addEndCommand(program: Command): void {
  const end = program
    .command('end')
    .description('end a program, or cancel a batch: its calls finish; a program’s next call begins a new one')
    .argument('<program>', 'its id, or a batch’s');
  addAdminOptions(end, URL_DEFAULT)
    .option('--tenant <name>', 'the program’s tenant, if several have a program of that name')
    .action(async (id: string, { tenant, ...flags }: AdminFlags & { readonly tenant?: string }) => {
      if (id.trim() === '') end.error('give the id of a program');
      const ofTenant = tenant === undefined ? '' : `&tenant=${encodeURIComponent(tenant)}`;
      const path = `/programs/${encodeURIComponent(id)}/end?by=operator${ofTenant}`;
      const { text } = (await adminClient(end, flags).json(path, 'POST')) as { readonly text?: string };
      process.stdout.write(`${plain(text ?? `${id} has ended`)}\n`);
    });
}

const COLUMNS = 80;

/** A row for each engine; then those with a trouble now or lately, in words. */
function tableOf(engines: readonly Row[]): string {
  const rows = engines.map((engine) => {
    const { id, kind, state, first_token_seconds: first, models } = engine;
    const { in_flight: running, window } = engine.all_gateways ?? engine;
    const calls = window === null ? `${running}` : `${running} of ${window}`;
    const times = [first.p50, first.p99].flatMap((seconds) => (seconds === null ? [] : span(1000 * seconds)));
    return [id, state, calls, times.join(', p99 ') || '–', kind, models.join(' ')].map(printable);
  });
  const isTroubled = ({ state, silent_seconds: silent, refused_seconds: refused, failures, outages }: Row) =>
    state !== 'up' || silent || refused || failures || outages.length > 0;
  const troubles = engines.filter(isTroubled).flatMap(({ id, text }) => wrapped(printable(`${id}: ${text}`), COLUMNS));
  const head = ['ENGINE', 'STATE', 'IN FLIGHT', 'FIRST TOKEN', 'KIND', 'MODELS'];
  const table = [head, ...rows];
  const widths = head.map((_, at) => Math.max(...table.map((row) => widthOf(row[at] ?? ''))));
  const lines = table.map((row) =>
    row
      .map((cell, at) => fitted(cell, widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  return [...lines, ...(troubles.length > 0 ? ['', ...troubles] : []), ''].join('\n');
}
