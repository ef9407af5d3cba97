import { LRUCache } from 'lru-cache';
import type { EngineId, ProgramId, ProgramRecord, TenantId } from '../src/index.js';
import { Directory, type Taken } from './directory.js';
import { EngineLedger } from './engine-ledger.js';
import type { EngineClaim, EnginePart, GatewayId } from './messages.js';
import type { SharedListener, SharedState, StoreState } from './shared-state.js';

/** Tenants whose keys are kept. */
const TENANTS_MAX = 10_000;

export interface MemoryOptions {
  readonly programsMax: number;
  /** Keys of conversations and responses that are kept for each tenant. */
  readonly keysMax: number;
}

/** State shared by gateways in one process. It is always available. */
export class MemoryStore {
  readonly listeners = new Map<GatewayId, SharedListener>();
  readonly ledgers = new Map<EngineId, EngineLedger>();
  readonly directory: Directory;
  /** Names by key, of each tenant; '': the key has several. */
  readonly #keys = cacheOf<LRUCache<string, string>>(TENANTS_MAX);

  constructor(private readonly options: MemoryOptions) {
    this.directory = new Directory(options.programsMax);
  }

  join(gateway: GatewayId, listener: SharedListener): SharedState {
    this.listeners.set(gateway, listener);
    return new MemoryState(this, gateway);
  }

  keysOf(tenant: TenantId): LRUCache<string, string> {
    let keys = this.#keys.get(tenant);
    if (keys === undefined) this.#keys.set(tenant, (keys = cacheOf(this.options.keysMax)));
    return keys;
  }

  /** Tells the gateway after the work at hand, so that no listener runs inside another's call. */
  tell(gateway: GatewayId | undefined, message: (listener: SharedListener) => void): void {
    const listener = gateway && this.listeners.get(gateway);
    if (listener) queueMicrotask(() => message(listener));
  }
}

class MemoryState implements SharedState {
  readonly #store: MemoryStore;
  readonly #gateway: GatewayId;

  constructor(store: MemoryStore, gateway: GatewayId) {
    this.#store = store;
    this.#gateway = gateway;
  }

  get state(): StoreState {
    const gateways = [...this.#store.listeners.keys()];
    return { up: true, sinceMs: 0, live: gateways.length, gateways, failures: 0 };
  }

  claim(claims: readonly EngineClaim[]): Promise<readonly EnginePart[]> {
    const { ledgers } = this.#store;
    const own = claims.flatMap((claim) => {
      const ledger = ledgers.get(claim.engine) ?? new EngineLedger(claim.engine);
      ledgers.set(claim.engine, ledger);
      ledger.claim(this.#gateway, claim);
      this.#tellOthers(ledger);
      return ledger.partOf(this.#gateway) ?? [];
    });
    return Promise.resolve(own);
  }

  release(engine: EngineId): void {
    const ledger = this.#store.ledgers.get(engine);
    if (ledger === undefined) return;
    ledger.leave(this.#gateway);
    if (ledger.isEmpty) this.#store.ledgers.delete(engine);
    this.#tellOthers(ledger);
  }

  take(program: ProgramId): Promise<Taken> {
    const taken = this.#store.directory.take(program, this.#gateway);
    this.#store.tell(taken.from, (listener) => listener.moved(program));
    return Promise.resolve(taken);
  }

  put(program: ProgramId, record: ProgramRecord): void {
    const isOwner = this.#store.directory.put(program, this.#gateway, record);
    if (!isOwner) this.#store.tell(this.#gateway, (listener) => listener.moved(program));
  }

  forget(program: ProgramId): void {
    this.#store.directory.forget(program, this.#gateway);
  }

  remember(tenant: TenantId, key: string, name: string): void {
    const keys = this.#store.keysOf(tenant);
    const known = keys.get(key);
    keys.set(key, known === undefined || known === name ? name : '');
  }

  find(tenant: TenantId, keys: readonly string[]): Promise<string | undefined> {
    const names = this.#store.keysOf(tenant);
    const known = keys.find((key) => names.has(key));
    return Promise.resolve((known !== undefined && names.get(known)) || undefined);
  }

  leave(): Promise<void> {
    this.#store.listeners.delete(this.#gateway);
    for (const engine of this.#store.ledgers.keys()) this.release(engine);
    return Promise.resolve();
  }

  #tellOthers(ledger: EngineLedger): void {
    for (const [gateway, part] of ledger.parts())
      if (gateway !== this.#gateway) this.#store.tell(gateway, (listener) => listener.parts([part]));
  }
}

/** Counts entries by size: `max` would reserve memory for all of them in advance. */
const cacheOf = <V extends object | string>(max: number): LRUCache<string, V> =>
  new LRUCache({ maxSize: max, sizeCalculation: () => 1 });
