import { setImmediate as nextTurn } from 'node:timers/promises';
import { engineId, type EngineId } from '../../src/index.js';
import type { Config } from '../config/schema.js';
import type { Log } from '../engines/index.js';
import { readBatch } from './batch.js';
import { ResidentBlocks, type Resident } from './resident.js';

/** The parts of `zeromq` in use. */
interface Subscriber extends AsyncIterable<Buffer[]> {
  bind(address: string): Promise<void>;
  subscribe(): void;
  close(): void;
}
interface ZeroMq {
  readonly Subscriber: new (options: { readonly maxMessageSize: number; readonly ipv6: boolean }) => Subscriber;
}

export interface KvEventPorts {
  /** The configuration in force. */
  readonly config: () => Config['kvEvents'];
  readonly isEngine: (id: EngineId) => boolean;
  readonly log: Log;
  /** Loads the package `zeromq`. */
  readonly load?: () => Promise<ZeroMq>;
}

/** Messages that are taken before other work gets a turn. */
const MESSAGES_PER_TURN = 32;

/** Engines' reports about their caches. They connect to us, so engines that come and go need no settings here. */
export class KvEvents {
  readonly #engines = new Map<EngineId, ResidentBlocks>();
  readonly #refused = { malformed: 0, unknown_engine: 0 };
  readonly #closed: Promise<void>;

  constructor(
    private readonly socket: Subscriber,
    private readonly ports: KvEventPorts,
  ) {
    this.#closed = this.#listen();
  }

  /** The engine's cache; undefined: no event so far. */
  of(id: EngineId): Resident | undefined {
    return this.#engines.get(id)?.read();
  }

  /** Messages that were refused, by cause. */
  get refused(): Readonly<Record<'malformed' | 'unknown_engine', number>> {
    return this.#refused;
  }

  async close(): Promise<void> {
    this.socket.close();
    await this.#closed;
  }

  async #listen(): Promise<void> {
    let messages = 0;
    try {
      for await (const frames of this.socket) {
        this.#take(frames);
        if (++messages % MESSAGES_PER_TURN === 0) await nextTurn();
      }
    } catch (error) {
      this.ports.log.warn({ err: error }, 'KV events ended');
    }
  }

  #take(frames: readonly Buffer[]): void {
    const id = engineOf(frames[0]?.toString('utf8') ?? '');
    if (!this.ports.isEngine(id)) return this.#refuse('unknown_engine', id);
    const batch = readBatch(frames);
    const { ranks, blocksMax } = this.ports.config();
    if (batch === undefined || batch.rank >= ranks) return this.#refuse('malformed', id);
    this.#residentOf(id).take(batch, blocksMax);
  }

  #residentOf(id: EngineId): ResidentBlocks {
    const known = this.#engines.get(id);
    if (known !== undefined) return known;
    for (const other of this.#engines.keys()) if (!this.ports.isEngine(other)) this.#engines.delete(other);
    const made = new ResidentBlocks();
    this.#engines.set(id, made);
    return made;
  }

  /** Logs the first of each cause: a wrong setting sends many. */
  #refuse(cause: 'malformed' | 'unknown_engine', topic: string): void {
    if (this.#refused[cause] === 0) this.ports.log.warn({ topic: topic.slice(0, 200), cause }, 'KV events refused');
    this.#refused[cause] += 1;
  }
}

/** The topic is the engine's id, alone or as in llm-d's `kv@ID@MODEL`. */
function engineOf(topic: string): EngineId {
  return engineId(/^kv@([^@]+)@/.exec(topic)?.[1] ?? topic);
}

/**
 * Listens for KV events, if they are configured.
 * @throws Error if the package `zeromq` is missing, or an address cannot be listened on
 */
export async function startKvEvents(ports: KvEventPorts): Promise<KvEvents | undefined> {
  const { host, port, ranks, messageBytes } = ports.config();
  if (port === null) return undefined;
  const { Subscriber } = await loadZeroMq(ports.load);
  const socket = new Subscriber({ maxMessageSize: messageBytes, ipv6: host.includes(':') });
  try {
    // Each further rank of an engine connects to the next port.
    for (let rank = 0; rank < ranks; rank++) await socket.bind(`tcp://${host}:${port + rank}`);
  } catch (error) {
    socket.close();
    throw new Error(`kvEvents: cannot listen on ${host}, ports ${port} to ${port + ranks - 1}`, { cause: error });
  }
  socket.subscribe();
  return new KvEvents(socket, ports);
}

/** An optional package: its name is a variable, so that the compiler does not look for its types. */
const PACKAGE: string = 'zeromq';

async function loadZeroMq(load = async () => (await import(PACKAGE)) as ZeroMq): Promise<ZeroMq> {
  try {
    return await load();
  } catch (error) {
    const advice = `is it installed? npm install ${PACKAGE}@6`;
    throw new Error(`kvEvents.port needs the package ${PACKAGE}, which cannot be loaded; ${advice}`, { cause: error });
  }
}
