import { LRUCache } from 'lru-cache';
import {
  type Answer,
  type EngineClaim,
  type EnginePart,
  type GatewayId,
  type SharedListener,
  type SharedState,
  type StoreState,
  type Taken,
  EngineLedger,
  nextLevel,
  unusedSlots,
  type Holding,
} from '../../cluster/index.js';
import type { EngineId, ProgramId, ProgramRecord, TenantId } from '../../src/index.js';

/** One gateway's way to the store and back. Messages arrive in the order in which they were sent. */
export interface Way {
  carry(deliver: () => void): void;
  /** Asks the store. @param missed stands for an answer that is late */
  ask<T>(reach: () => T, missed: T): Answer<T>;
}

/** After the work at hand, so that no listener runs inside another's call. */
const AT_ONCE: Way = { carry: queueMicrotask, ask: (reach) => Promise.resolve().then(reach) };

/** State shared by gateways in one process. It is always available; the way to it may lose answers. */
export class MemoryStore {
  readonly #gateways = new Map<GatewayId, { readonly listener: SharedListener; readonly way: Way }>();
  readonly ledgers = new Map<EngineId, DividedLedger>();
  readonly directory: Directory;
  /** Names by tenant and key; '': the key has several. No simulated gateway has any. */
  readonly names = new Map<string, string>();

  constructor(programsMax: number) {
    this.directory = new Directory(programsMax);
  }

  get gateways(): GatewayId[] {
    return [...this.#gateways.keys()];
  }

  join(gateway: GatewayId, listener: SharedListener, way = AT_ONCE): SharedState {
    this.#gateways.set(gateway, { listener, way });
    return new MemoryState(this, gateway, way);
  }

  leave(gateway: GatewayId): void {
    this.#gateways.delete(gateway);
  }

  tell(gateway: GatewayId | undefined, message: (listener: SharedListener) => void): void {
    const { listener, way } = (gateway && this.#gateways.get(gateway)) ?? {};
    if (listener) way?.carry(() => message(listener));
  }
}

class MemoryState implements SharedState {
  constructor(
    private readonly store: MemoryStore,
    private readonly gateway: GatewayId,
    private readonly way: Way,
  ) {}

  get state(): StoreState {
    const { gateways } = this.store;
    return { up: true, sinceMs: 0, live: gateways.length, gateways, failures: 0 };
  }

  claim(claims: readonly EngineClaim[]): Answer<readonly EnginePart[]> {
    return this.way.ask(() => {
      const { ledgers } = this.store;
      const claimed = claims.map((claim) => {
        const ledger = ledgers.get(claim.engine) ?? new DividedLedger(claim.engine);
        ledgers.set(claim.engine, ledger);
        ledger.claim(this.gateway, claim);
        return ledger;
      });
      return this.#tell(claimed);
    }, []);
  }

  release(engine: EngineId): void {
    this.way.carry(() => this.#release(engine));
  }

  take(program: ProgramId): Answer<Taken | undefined> {
    return this.way.ask((): Taken | undefined => {
      const taken = this.store.directory.take(program, this.gateway);
      this.store.tell(taken.from, (listener) => listener.moved(program));
      return taken;
    }, undefined);
  }

  put(program: ProgramId, record: ProgramRecord): void {
    this.way.carry(() => {
      const isOwner = this.store.directory.put(program, this.gateway, record);
      if (!isOwner) this.store.tell(this.gateway, (listener) => listener.moved(program));
    });
  }

  forget(program: ProgramId): void {
    this.way.carry(() => this.store.directory.forget(program, this.gateway));
  }

  remember(tenant: TenantId, key: string, name: string): void {
    this.way.carry(() => {
      const { names } = this.store;
      const known = names.get(`${tenant} ${key}`) ?? name;
      names.set(`${tenant} ${key}`, known === name ? name : '');
    });
  }

  find(tenant: TenantId, keys: readonly string[]): Answer<string | undefined> {
    return this.way.ask((): string | undefined => {
      const known = keys.map((key) => this.store.names.get(`${tenant} ${key}`));
      return known.find((name) => name !== undefined) || undefined;
    }, undefined);
  }

  leave(): Answer<void> {
    return this.way.ask(() => {
      this.store.leave(this.gateway);
      for (const engine of [...this.store.ledgers.keys()]) this.#release(engine);
    }, undefined);
  }

  #release(engine: EngineId): void {
    const ledger = this.store.ledgers.get(engine);
    if (ledger === undefined) return;
    ledger.leave(this.gateway);
    if (ledger.isEmpty) this.store.ledgers.delete(engine);
    this.#tell([ledger]);
  }

  /** Tells the other gateways of their parts, and returns this one's. */
  #tell(ledgers: readonly DividedLedger[]): EnginePart[] {
    const news = new Map<GatewayId, EnginePart[]>();
    for (const ledger of ledgers)
      for (const [gateway, part] of ledger.parts()) news.set(gateway, [...(news.get(gateway) ?? []), part]);
    for (const [gateway, parts] of news)
      if (gateway !== this.gateway) this.store.tell(gateway, (listener) => listener.parts(parts));
    return news.get(this.gateway) ?? [];
  }
}

/**
 * Which gateway runs each program's calls, and its last record. A gateway that owns a program asks nobody; another
 * one takes it over with its first call.
 */
class Directory {
  readonly #entries: LRUCache<ProgramId, { readonly owner: GatewayId; readonly record: ProgramRecord | undefined }>;

  constructor(programsMax: number) {
    // `max` would reserve memory for all of them in advance.
    this.#entries = new LRUCache({ maxSize: programsMax, sizeCalculation: () => 1 });
  }

  take(program: ProgramId, gateway: GatewayId): Taken {
    const entry = this.#entries.get(program);
    const from = entry?.owner;
    this.#entries.set(program, { owner: gateway, record: entry?.record });
    return { record: entry?.record, from: from === gateway ? undefined : from };
  }

  /**
   * Joins the gateway's record. The owner's own contexts and home replace others'.
   * @returns whether the gateway owns the program; another one must hear that it does not
   */
  put(program: ProgramId, gateway: GatewayId, record: ProgramRecord): boolean {
    const entry = this.#entries.get(program) ?? { owner: gateway, record: undefined };
    const known = entry.record;
    const serviceMs = known === undefined || known.serviceMs < record.serviceMs ? record.serviceMs : known.serviceMs;
    const calls = Math.max(known?.calls ?? 0, record.calls);
    const place = known === undefined || entry.owner === gateway ? record : known;
    this.#entries.set(program, { owner: entry.owner, record: { ...place, serviceMs, calls } });
    return entry.owner === gateway;
  }

  /** Changes nothing if another gateway owns the program by now. */
  forget(program: ProgramId, gateway: GatewayId): void {
    if (this.#entries.get(program)?.owner === gateway) this.#entries.delete(program);
  }
}

/** A ledger of a store in this process, which divides the window as the gateways' server does. */
export class DividedLedger extends EngineLedger {
  readonly #holdings: Map<GatewayId, Holding>;

  constructor(engine: EngineId) {
    const holdings = new Map<GatewayId, Holding>();
    super(engine, holdings);
    this.#holdings = holdings;
  }

  get isEmpty(): boolean {
    return this.#holdings.size === 0;
  }

  /** The gateway's claim replaces its last one. */
  claim(gateway: GatewayId, claim: EngineClaim): void {
    const held = Math.min(claim.keeps, this.#holdings.get(gateway)?.slots ?? 0);
    this.#holdings.set(gateway, { claim, slots: Math.max(claim.inFlight, held) });
    giveSlots(this.#holdings, this.window);
  }

  /** The gateway is gone: its slots are free. */
  leave(gateway: GatewayId): void {
    if (this.#holdings.delete(gateway)) giveSlots(this.#holdings, this.window);
  }
}

/** Gives slots that nobody holds. A gateway that gets one for a waiting call is the last in order. @param window Infinity: there are none to divide */
export function giveSlots(holdings: Map<GatewayId, Holding>, window: number): void {
  if (window === Infinity) return;
  let free = [...holdings.values()].reduce((left, { slots }) => left - slots, window);
  for (; free > 0; free -= 1) {
    const [gateway, neediest] = [...holdings].reduce((a, b) => (isNeedier(b[1], a[1]) ? b : a));
    if (nextLevel(neediest) === Infinity) break;
    neediest.slots += 1;
    holdings.delete(gateway);
    holdings.set(gateway, neediest);
  }
  const all = [...holdings.values()];
  for (; free > 0; free -= 1) all.reduce((a, b) => (unusedSlots(b) < unusedSlots(a) ? b : a)).slots += 1;
}

/** Whether its next call has a better level; of equal levels, whether it holds fewer slots. */
function isNeedier(one: Holding, other: Holding): boolean {
  const [level, otherLevel] = [nextLevel(one), nextLevel(other)];
  return level < otherLevel || (level === otherLevel && one.slots < other.slots);
}
