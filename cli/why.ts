import type { Command } from 'commander';
import type { Explanation, GatewayState } from '../sidecar/admin/answers.js';
import { factsOf, plain } from '../text/index.js';
import { URL_DEFAULT, addAdminOptions, adminClient, type AdminClient, type AdminFlags } from './admin.js';
import { wrapped } from './text.js';

type WhyFlags = AdminFlags & { readonly tenant?: string; readonly json?: true };

const COLUMNS = 80;

export function addWhyCommand(program: Command): void {
  const why = program
    .command('why')
    .description('explain why a call waits, or why it ran on its engine')
    .argument('[id]', 'a call; a batch or program, or 4 characters of its beginning; without: who waits longest');
  addAdminOptions(why, URL_DEFAULT)
    .option('--tenant <name>', 'the program’s tenant, if several have a program of that name')
    .option('--json', 'print the figures as JSON')
    .action(async (id: string | undefined, { tenant, json, ...flags }: WhyFlags) => {
      if (id?.trim() === '') why.error('give the id of a call or a program');
      const query = tenant === undefined ? '' : `tenant=${encodeURIComponent(tenant)}`;
      const client = adminClient(why, flags);
      const status = id === undefined ? ((await client.json('/gateway')) as GatewayState).status : undefined;
      const program = id ?? (await longestWaiting(client, query));
      const facts = status === undefined ? [] : factsOf(status).map((fact) => fact.text);
      const told = program === undefined ? undefined : await explained(client, program, query);
      const text = [facts.join('\n'), told?.text ?? ''].filter(Boolean).join('\n\n');
      const [answer = '', ...details] = plain(text)
        .split('\n')
        .map((each) => wrapped(each, COLUMNS).join('\n'));
      const isBold = process.stdout.isTTY && process.env['TERM'] !== 'dumb';
      const lines = [isBold ? `\u001B[1m${answer}\u001B[0m` : answer, ...details];
      process.stdout.write(json ? `${JSON.stringify(told ?? status)}\n` : `${lines.join('\n')}\n`);
    });
}

export const explained = async (client: AdminClient, program: string, query = ''): Promise<Explanation> =>
  (await client.json(`/programs/${encodeURIComponent(program)}/explain?${query}`)) as Explanation;

/** The program whose call has waited longest; undefined: none waits. */
async function longestWaiting(client: AdminClient, query: string): Promise<string | undefined> {
  const answer = await client.json(`/programs?sort=-current_wait_seconds&limit=1&${query}`);
  const { programs } = answer as { programs: readonly { key: string; current_wait_cause: string | null }[] };
  return programs.find(({ current_wait_cause: cause }) => cause !== null)?.key;
}
