import { AdminError, type AdminClient } from '../admin.js';
import {
  readDetail,
  readEngines,
  readGateway,
  readPrograms,
  readQueue,
  readTotals,
  readWhy,
  type EngineRow,
  type GatewayRow,
  type ProgramDetail,
  type ProgramRow,
  type QueueRow,
  type Totals,
} from './wire.js';

/** What to ask for: the order and choice of programs, and one of them in full. */
export interface Wish {
  readonly sort: string;
  /** Filters of `GET /programs`, by parameter. */
  readonly choice: Readonly<Record<string, string>>;
  readonly limit: number;
  /** Key of the program to read in full. */
  readonly open: string | undefined;
}

/** The gateway at one moment. */
export interface Snapshot {
  readonly gateway: GatewayRow;
  readonly totals: Totals;
  readonly engines: readonly EngineRow[];
  readonly queue: QueueRow;
  readonly programs: readonly ProgramRow[];
  /** Programs that match. */
  readonly total: number;
  /** Null: the opened program has ended; undefined: none is open, or not read yet. */
  readonly detail?: OpenedProgram | null | undefined;
}

/** One program, with the gateway's words on its calls. */
export interface OpenedProgram extends ProgramDetail {
  readonly why: readonly string[];
}

/**
 * Reads the gateway. Not its metrics, although they have totals too: reading them resets those of the event loop, which
 * Prometheus would miss.
 * @throws AdminError
 */
export async function readSnapshot(client: AdminClient, wish: Wish): Promise<Snapshot> {
  const { open } = wish;
  const [gateway, totals, engines, queue, programs, detail] = await Promise.all([
    get(client, '/gateway', readGateway),
    get(client, '/totals', readTotals),
    get(client, '/engines', readEngines),
    get(client, '/queue', readQueue),
    get(client, programsPath(wish), readPrograms),
    open === undefined ? undefined : readOpened(client, open),
  ]);
  return { gateway, totals, engines, queue, ...programs, detail };
}

async function readOpened(client: AdminClient, key: string): Promise<OpenedProgram | null> {
  const path = `/programs/${encodeURIComponent(key)}`;
  try {
    const [detail, why] = await Promise.all([get(client, path, readDetail), get(client, `${path}/explain`, readWhy)]);
    return { ...detail, why };
  } catch (error) {
    if (error instanceof AdminError && error.status === 404) return null;
    throw error;
  }
}

async function get<T>(client: AdminClient, path: string, read: (answer: unknown) => T): Promise<T> {
  const answer = await client.json(path);
  try {
    return read(answer);
  } catch {
    throw new AdminError(`${path} answered in an unknown shape: is this gateway of another version?`);
  }
}

export function programsPath({ sort, choice, limit }: Omit<Wish, 'open'>): string {
  return `/programs?${new URLSearchParams({ sort, limit: String(limit), ...choice }).toString()}`;
}
