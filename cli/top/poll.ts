import { AdminError, type AdminClient } from '../admin.js';
import {
  readConfig,
  readDetail,
  readEngines,
  readPrograms,
  readQueue,
  readTotals,
  readWhy,
  type EngineRow,
  type ProgramDetail,
  type ProgramRow,
  type QueueRow,
  type Totals,
} from './wire.js';

/** What to ask for: the order and choice of programs, and one of them in full. */
export interface Wish {
  readonly sort: string;
  readonly tenant: string | undefined;
  readonly limit: number;
  /** Key of the program to read in full. */
  readonly open: string | undefined;
}

/** The gateway at one moment. */
export interface Snapshot {
  readonly engines: readonly EngineRow[];
  readonly queue: QueueRow;
  readonly programs: readonly ProgramRow[];
  /** Programs of the tenant, or of all. */
  readonly total: number;
  readonly policy: string;
  /** Share of an engine's capacity for the working set; 0: no gate. */
  readonly gate: number;
  readonly totals: Totals;
  /** Per second, between the last two readings of the totals; undefined at first. */
  readonly rates: { readonly calls: number; readonly programs: number } | undefined;
  /** Null: the opened program has ended; undefined: none is open, or not read yet. */
  readonly detail?: OpenedProgram | null | undefined;
}

/** One program, with the gateway's words on its calls. */
export interface OpenedProgram extends ProgramDetail {
  readonly why: readonly string[];
}

/** Polls between two readings of counters and configuration, which cost more and change less. */
const SLOW_EVERY = 5;

/** Reads snapshots, and remembers what a rate needs. */
export class Poller {
  readonly #client: AdminClient;
  readonly #now: () => number;
  #polls = 0;
  #slow: (Pick<Snapshot, 'policy' | 'gate' | 'totals' | 'rates'> & { readonly atMs: number }) | undefined;

  constructor(client: AdminClient, now: () => number) {
    this.#client = client;
    this.#now = now;
  }

  /** @throws AdminError */
  async read(wish: Wish): Promise<Snapshot> {
    const [engines, queue, programs, detail, slow] = await Promise.all([
      this.#get('/engines', readEngines),
      this.#get('/queue', readQueue),
      this.#get(programsPath(wish), readPrograms),
      wish.open === undefined ? undefined : this.#detail(wish.open),
      this.#readSlow(),
    ]);
    this.#polls += 1;
    const { policy, gate, totals, rates } = slow;
    return { engines, queue, ...programs, policy, gate, totals, rates, detail };
  }

  /** Reads everything anew at the next poll: the gateway may be another process by then. */
  forget(): void {
    this.#polls = 0;
  }

  async #detail(key: string): Promise<OpenedProgram | null> {
    const path = `/programs/${encodeURIComponent(key)}`;
    // An older gateway does not explain.
    const [detail, why] = await Promise.all([this.#known(path, readDetail), this.#known(`${path}/explain`, readWhy)]);
    return detail === undefined ? null : { ...detail, why: why ?? [] };
  }

  async #known<T>(path: string, read: (answer: unknown) => T): Promise<T | undefined> {
    try {
      return await this.#get(path, read);
    } catch (error) {
      if (error instanceof AdminError && error.status === 404) return undefined;
      throw error;
    }
  }

  async #readSlow() {
    const before = this.#slow;
    if (before !== undefined && this.#polls % SLOW_EVERY !== 0) return before;
    const [metrics, { policy, admission }] = await Promise.all([
      this.#client.text('/metrics'),
      this.#get('/config', readConfig),
    ]);
    const atMs = this.#now();
    const totals = readTotals(metrics);
    const elapsed = before === undefined ? 0 : (atMs - before.atMs) / 1000;
    const isSame = before?.totals.startedAtSeconds === totals.startedAtSeconds && elapsed > 0;
    const rate = (field: 'calls' | 'programs') => (totals[field] - (before?.totals[field] ?? 0)) / elapsed;
    const rates = isSame ? { calls: rate('calls'), programs: rate('programs') } : undefined;
    this.#slow = { atMs, policy: policy.name, gate: admission.gate, totals, rates };
    return this.#slow;
  }

  async #get<T>(path: string, read: (answer: unknown) => T): Promise<T> {
    const answer = await this.#client.json(path);
    try {
      return read(answer);
    } catch {
      throw new AdminError(`${path} answered in an unknown shape: is this gateway of another version?`);
    }
  }
}

export function programsPath({ sort, tenant, limit }: Omit<Wish, 'open'>): string {
  const query = new URLSearchParams({ sort, limit: String(limit), ...(tenant !== undefined && { tenant }) });
  return `/programs?${query.toString()}`;
}
