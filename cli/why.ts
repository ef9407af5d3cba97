import type { Command } from 'commander';
import type { EndedPrograms, Explanation, GatewayState } from '../sidecar/admin/answers.js';
import { plain } from '../text/index.js';
import { AdminError, URL_DEFAULT, addAdminOptions, adminClient, type AdminClient, type AdminFlags } from './admin.js';
import { wrapped } from './text.js';
import { counted, timeText } from './top/figures.js';

type WhyFlags = AdminFlags & { readonly tenant?: string; readonly json?: true };

const COLUMNS = 80;

export function addWhyCommand(program: Command): void {
  const why = program
    .command('why')
    .description('explain why a call waits, or why it ran on its engine')
    .argument('[id]', 'a call, batch or program, or 4 characters of its beginning; without: who waits longest');
  addAdminOptions(why, URL_DEFAULT)
    .option('--tenant <name>', 'the program’s tenant, if several have a program of that name')
    .option('--json', 'print the figures as JSON')
    .action(async (id: string | undefined, { tenant, json, ...flags }: WhyFlags) => {
      if (id?.trim() === '') why.error('give the id of a call or a program');
      const query = tenant === undefined ? '' : `tenant=${encodeURIComponent(tenant)}`;
      const client = adminClient(why, flags);
      const program = id ?? (await longestWaiting(client, query));
      // Where no call waits, there may be no engine to take one.
      const body = program === undefined ? { text: ((await client.json('/gateway')) as GatewayState).status.text } : await explained(client, program, query); // prettier-ignore
      const { text = '' } = body as { text?: string };
      const [answer = '', ...details] = plain(text).split('\n').map((each) => wrapped(each, COLUMNS).join('\n')); // prettier-ignore
      const isBold = process.stdout.isTTY && process.env['TERM'] !== 'dumb';
      const lines = [isBold ? `\u001B[1m${answer}\u001B[0m` : answer, ...details];
      process.stdout.write(json ? `${JSON.stringify(body)}\n` : `${lines.join('\n')}\n`);
    });
}

/** Of a program that has left the table, how it ended. @throws AdminError */
export async function explained(
  client: AdminClient,
  program: string,
  query = '',
): Promise<Partial<Explanation> & { readonly text: string; readonly ended?: Ended }> {
  try {
    return (await client.json(`/programs/${encodeURIComponent(program)}/explain?${query}`)) as Explanation;
  } catch (error) {
    if (!(error instanceof AdminError) || error.status !== 404 || query !== '') throw error;
    const { programs } = (await client.json('/ended')) as EndedPrograms;
    // As the gateway finds a present one.
    const alike = programs.filter(
      ({ id }) => program.length >= BEGINNING_CHARS_MIN && bare(id).startsWith(bare(program)),
    );
    const found =
      programs.find(({ id, key }) => id === program || key === program) ?? (alike.length === 1 ? alike[0] : undefined);
    if (found === undefined) throw error;
    const { id, cause, calls, ended_at: endedAt, duration_seconds: took, queue_seconds: queued } = found;
    const agoSeconds = Math.max(0, Date.now() / 1000 - endedAt);
    return {
      text: `Program ${JSON.stringify(id)} ended ${timeText(agoSeconds)} ago, ${END_CAUSES[cause]}.\nIt had ${counted(calls, 'call')} in ${timeText(took)}, of which ${timeText(queued)} queued.`,
      program: null,
      ended: found,
    };
  }
}

const BEGINNING_CHARS_MIN = 4;
const bare = (id: string): string => id.replace(/^~/, '');

type Ended = EndedPrograms['programs'][number];

const END_CAUSES: Readonly<Record<Ended['cause'], string>> = {
  ended: 'declared over',
  expired: 'idle for its lease',
  evicted: 'idle, as the table was full',
};

/** The program whose call has waited longest; undefined: none waits. */
async function longestWaiting(client: AdminClient, query: string): Promise<string | undefined> {
  const answer = await client.json(`/programs?sort=-current_wait_seconds&limit=1&${query}`);
  const { programs } = answer as { programs: readonly { key: string; current_wait_cause: string | null }[] };
  return programs.find(({ current_wait_cause: cause }) => cause !== null)?.key;
}
