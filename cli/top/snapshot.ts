import { z } from 'zod';
import { AdminError, type AdminClient } from '../admin.js';
import { printable } from '../text.js';

/**
 * Answers of the admin API, as far as they are shown. Names arrive printable. A figure that this gateway's version lacks
 * counts as 0 or unknown, so that `top` works across versions.
 */
const name = z.string().transform(printable);
const figure = z.number().catch(0);

const program = z.object({
  id: name,
  tenant: name,
  state: name.catch(''),
  level: figure,
  attained_service_seconds: figure,
  waiting_seconds: figure,
  current_wait_seconds: figure,
  current_wait_cause: name.nullish().catch(null),
  engine: name.nullable().catch(null),
  active_calls: figure,
  calls: figure,
  promotions: figure,
  context_tokens: figure,
  on_host_tokens: figure,
  prompt_tokens: figure,
  cached_tokens: figure,
  age_seconds: figure,
  idle_seconds: figure,
  gateway: name.nullish().catch(null),
});

const lines = z.object({ total: figure, completed: figure, failed: figure });
const batch = z.object({ id: name, lines, rest_seconds: z.number().nullable().catch(null) });

const ANSWERS = {
  '/gateway': z.object({
    policy: name,
    draining: z.boolean().catch(false),
    /** Of the demo fleet under way. */
    demo_programs: z.object({ ended: z.number(), total: z.number() }).nullish().catch(null),
    batches: z.array(batch).catch([]),
    cluster: z
      .object({ silent: z.array(name).catch([]) })
      .nullish()
      .catch(null),
  }),
  '/engines': z.object({
    engines: z.array(
      z.object({
        id: name.catch(''),
        state: name,
        down_reason: name.nullable().catch(null),
        in_flight: figure,
        all_gateways: z.object({ in_flight: figure }).nullish().catch(null),
      }),
    ),
  }),
  '/queue': z.object({ waiting: figure, longest_wait_seconds: figure, waiting_for: z.record(name, figure).catch({}) }),
  /** `total`: programs that match, of which these are the first behind `offset`. */
  '/programs': z.object({ programs: z.array(program), total: z.number(), offset: figure }),
};

export type ProgramRow = z.output<typeof program>;
type Answer<Path extends keyof typeof ANSWERS> = z.output<(typeof ANSWERS)[Path]>;

/** The gateway at one moment. */
export type Snapshot = Answer<'/programs'> &
  Answer<'/engines'> & { readonly gateway: Answer<'/gateway'>; readonly queue: Answer<'/queue'> };

/** Which programs to ask for, and in which order. */
interface Wish {
  readonly sort: string;
  readonly filter: string;
  readonly offset: number;
  readonly limit: number;
}

/** @throws AdminError */
export async function readSnapshot(client: AdminClient, { filter, sort, offset, limit }: Wish): Promise<Snapshot> {
  const query = new URLSearchParams({ sort, limit: String(limit), offset: String(offset), ...choiceOf(filter) });
  const [engines, queue, programs] = await Promise.all([
    get(client, '/engines'),
    get(client, '/queue'),
    get(client, '/programs', `?${query.toString()}`),
  ]);
  // Afterwards: it names the gateways that did not answer.
  const gateway = await get(client, '/gateway');
  return { gateway, queue, ...engines, ...programs };
}

async function get<Path extends keyof typeof ANSWERS>(
  client: AdminClient,
  path: Path,
  query = '',
): Promise<Answer<Path>> {
  const { success, data } = ANSWERS[path].safeParse(await client.json(path + query));
  if (success) return data as Answer<Path>;
  throw new AdminError(`${path} answered in an unknown shape: is this gateway of another version?`);
}

const CHOICE = /^(?:(tenant|engine):(.+)|(state):(active|waiting|running|idle))$/;

/** Parameters of `GET /programs`: `tenant:NAME`, `engine:ID`, `state:STATE`; other words are looked for in names. */
function choiceOf(filter: string): Record<string, string> {
  const choice: Record<string, string> = {};
  const words: string[] = [];
  for (const word of filter.split(/\s+/)) {
    const [, name, value, state, which] = CHOICE.exec(word) ?? [];
    if (name !== undefined) choice[name] = value ?? '';
    else if (state !== undefined) choice[state] = which ?? '';
    else if (word !== '') words.push(word);
  }
  return words.length === 0 ? choice : { ...choice, text: words.join(' ') };
}
