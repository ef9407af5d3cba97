import type { GatewayState, Program, ProgramPage } from '../../sidecar/admin/answers.js';
import { PROGRAM_STATES } from '../../sidecar/admin/query.js';
import { AdminError, type AdminClient } from '../admin.js';
import { printable } from '../text.js';

/** The gateway at one moment. All names are printable. What its version lacks is absent, so that `top` shows the rest. */
export interface Snapshot extends Omit<ProgramPage, 'programs' | 'limit'> {
  readonly programs: readonly ProgramRow[];
  readonly filter: string;
  /** A time of day. */
  readonly readAt: string;
  readonly gateway: Partial<Pick<GatewayState, 'status' | 'demo_programs' | 'policy'>>;
}
export type ProgramRow = Pick<Program, 'id'> & Partial<Program>;

export type Wish = Readonly<Record<'sort' | 'filter', string> & Record<'offset' | 'limit', number>>;

/** @throws AdminError */
export async function readSnapshot(client: AdminClient, { filter, sort, offset, limit }: Wish): Promise<Snapshot> {
  const query = new URLSearchParams({ sort, limit: String(limit), offset: String(offset), ...choiceOf(filter) });
  const [gateway, page] = await Promise.all([
    read<Snapshot['gateway']>(client, '/gateway'),
    read<Partial<ProgramPage>>(client, `/programs?${query.toString()}`),
  ]);
  const { programs, total } = page;
  if (programs === undefined || total === undefined)
    throw new AdminError('/programs answered in an unknown shape: is this gateway of another version?');
  return { gateway, programs, total, offset, filter: filter.trim(), readAt: new Date().toLocaleTimeString('en-GB') };
}

async function read<T>(client: AdminClient, path: string): Promise<T> {
  const harmless = (_: string, value: unknown) => (typeof value === 'string' ? printable(value) : value);
  return JSON.parse(JSON.stringify(await client.json(path)), harmless) as T;
}

const CHOICE = /^(tenant|engine|state):(.+)$/;

/** Parameters of `GET /programs`: `tenant:NAME`, `engine:ID`, `state:STATE`; other words are looked for in names. */
function choiceOf(filter: string): Record<string, string> {
  const choice: Record<string, string> = {};
  const words: string[] = [];
  for (const word of filter.split(/\s+/)) {
    const [, name, value] = CHOICE.exec(word) ?? [];
    if (name !== undefined) choice[name] = value ?? '';
    else if (word !== '') words.push(word);
  }
  return words.length === 0 ? choice : { ...choice, text: words.join(' ') };
}

/** Undefined: a filter is well. */
export function faultIn(filter: string): string | undefined {
  if (filter.split(/\s+/).some((word) => /^\w+:/.test(word) && !CHOICE.test(word)))
    return 'Words with a colon are tenant:NAME, engine:ID and state:STATE.';
  const { state = 'active' } = choiceOf(filter);
  return PROGRAM_STATES.includes(state) ? undefined : `A state is one of ${PROGRAM_STATES.join(', ')}.`;
}
