import type { EngineId, ProgramId, ProgramRecord, TenantId } from '../../src/index.js';
import type { EngineClaim, EnginePart, GatewayId } from '../messages.js';
import type { SharedListener, SharedState, StoreState, Taken } from '../shared-state.js';
import { BATCH_MAX, Batches } from './batches.js';
import { Circuit } from './circuit.js';
import { makeClient, type Client } from './client.js';
import type { RedisOptions } from './options.js';
import { Questions } from './questions.js';
import { partAlone, Shares } from './shares.js';
import { Store, type Remembered } from './store.js';
import { parseLedgers } from './wire.js';

/** Time between the probes of a store that answers again. */
const PROBE_MS = 50;
/** Time that a new gateway waits for its first contact, and a leaving one for its last. */
const CONTACT_MS_MAX = { first: 1000, last: 500 };
/** Longest key, and most keys of one search: anything beyond is not shared. */
const KEY_CHARS_MAX = 256;
const KEYS_MAX = 64;

/**
 * Shares state through a Redis or Valkey server.
 *
 *     up      operations go to the store; three in a row that fail or are late, or a lost connection, end this
 *     alone   none goes there but a heartbeat; the gateway has an equal share of each engine
 *     return  three heartbeats in time; then claims are made and owned programs are written again
 */
export class RedisState implements SharedState {
  readonly #store: Store;
  readonly #circuit = new Circuit(() => this.#opened());
  readonly #questions: Questions;
  readonly #shares: Shares;
  readonly #records = new Batches<readonly [ProgramId, ProgramRecord]>((records) => this.#sendRecords(records));
  readonly #remembered = new Batches<Remembered>((entries) => this.#sendRemembered(entries));
  #sinceMs = performance.now();
  #live: number;
  #gateways: readonly GatewayId[] = [];
  /** Until then, gateways that were live before may not have come back to an emptied store. */
  #settlesUntilMs = 0;
  #timer: NodeJS.Timeout | undefined;
  #isBeating = false;
  #isSubscribed = false;
  #lacksClaims = false;
  #hasLeft = false;
  #begin: () => void = () => undefined;

  /**
   * Waits for the first contact for up to a second; without it the gateway begins alone.
   * @throws RangeError for names that keys cannot hold; Error if the package ioredis is not installed
   */
  static async open(options: RedisOptions, listener: SharedListener): Promise<RedisState> {
    const client = await makeClient(options.connection, `maitred:${options.gateway}`);
    const state = new RedisState(options, client, listener);
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, CONTACT_MS_MAX.first);
      state.#begin = () => {
        clearTimeout(timer);
        resolve();
      };
      state.#connect();
    });
    if (!state.#circuit.isClosed) state.#changed();
    return state;
  }

  private constructor(
    private readonly options: RedisOptions,
    private readonly client: Client,
    private readonly listener: SharedListener,
  ) {
    this.#shares = new Shares(options.gateway);
    this.#live = options.gateways;
    this.#store = new Store(client, options);
    const publish = (channel: string, text: string): void => {
      client.publish(channel, text).catch((error: unknown) => this.#circuit.failed(error));
    };
    this.#questions = new Questions({ ...options, ...this.#store.channels, publish });
  }

  get state(): StoreState {
    const { isClosed, failures, error } = this.#circuit;
    const said = error === undefined ? {} : { error };
    return { up: isClosed, sinceMs: this.#sinceMs, live: this.#live, gateways: this.#gateways, failures, ...said };
  }

  get gateway(): GatewayId {
    return this.options.gateway;
  }

  get silent(): readonly GatewayId[] {
    return [...this.#questions.silent];
  }

  /** Asks all other gateways. Alone, there is none to answer; none is waited for longer than a second. */
  ask(question: string): Promise<ReadonlyMap<GatewayId, string>> {
    const others = this.#gateways.filter((each) => this.#circuit.isClosed && each !== this.gateway);
    return this.#questions.ask(question, others);
  }

  claim(claims: readonly EngineClaim[]): Promise<readonly EnginePart[]> {
    this.#shares.claim(claims);
    return this.#circuit.isClosed ? this.#sendClaims(claims) : Promise.resolve(this.#alone(claims));
  }

  release(engine: EngineId): void {
    this.#shares.release(engine);
    if (this.#circuit.isClosed) void this.#sendClaims([]);
  }

  take(program: ProgramId): Promise<Taken | undefined> {
    return this.#use(() => this.#store.take(program));
  }

  put(program: ProgramId, record: ProgramRecord): void {
    if (this.#circuit.isClosed) this.#records.add(program, [program, record]);
  }

  forget(program: ProgramId): void {
    this.#records.delete(program);
    void this.#use(() => this.#store.forget(program));
  }

  remember(tenant: TenantId, key: string, name: string): void {
    if (!this.#circuit.isClosed || key.length > KEY_CHARS_MAX) return;
    this.#remembered.add(`${tenant}\n${key}`, [tenant, key, name]);
  }

  async find(tenant: TenantId, keys: readonly string[]): Promise<string | undefined> {
    const known = keys.filter((key) => key.length <= KEY_CHARS_MAX).slice(0, KEYS_MAX);
    return known.length === 0 ? undefined : this.#use(() => this.#store.find(tenant, known));
  }

  /**
   * Holds a name for this gateway until `leaseMs` from now, unless another one does. 0 gives it up.
   * @param value what others learn of its holder
   * @returns undefined: the store did not answer
   */
  hold(name: string, value: string, leaseMs: number) {
    return this.#use(() => this.#store.hold(name, value, leaseMs));
  }

  async leave(): Promise<void> {
    if (this.#hasLeft) return;
    this.#hasLeft = true;
    clearTimeout(this.#timer);
    if (this.#circuit.isClosed) {
      const told = Promise.all([this.#records.sent, this.#remembered.sent]);
      const left = told.then(() => this.#store.leave(this.#live));
      await this.#circuit.inTime(left, CONTACT_MS_MAX.last);
    }
    this.#circuit.isClosed = false;
    this.#questions.close();
    this.client.disconnect();
  }

  #connect(): void {
    const { client } = this;
    client.on('ready', () => void this.#beat());
    client.on('error', (error) => this.#circuit.failed(error));
    client.on('close', () => {
      this.#isSubscribed = false;
      if (this.#circuit.isClosed) this.#circuit.failed(new Error('the connection to the store was lost'), true);
    });
    client.on('message', (channel, text) => this.#hear(channel, text));
    client.connect().catch(() => undefined); // The listeners hear of it.
    this.#beatIn(this.options.heartbeatMs);
  }

  #beatIn(ms: number): void {
    clearTimeout(this.#timer);
    if (!this.#hasLeft) this.#timer = setTimeout(() => void this.#beat(), ms);
  }

  /** Sends a sign of life, and looks whether the store is well. One at a time, however long its answer takes. */
  async #beat(): Promise<void> {
    this.#beatIn(this.options.heartbeatMs);
    // Without a connection, the reason is known: it must not give way to that nothing can be sent.
    if (this.#isBeating || this.client.status !== 'ready') return;
    this.#isBeating = true;
    const answer = this.#probe().finally(() => (this.#isBeating = false));
    // The first on a connection subscribes, and the server reads the script.
    const beat = await this.#circuit.inTime(answer, this.#isSubscribed ? this.options.limitMs : CONTACT_MS_MAX.first);
    if (beat === undefined || this.#hasLeft) return;
    const nowMs = performance.now();
    if (beat.isNew || !this.#circuit.isClosed) this.#settlesUntilMs = nowMs + this.options.settleMs;
    this.#gateways = beat.gateways;
    const live = Math.max(1, beat.gateways.length);
    this.#live = nowMs < this.#settlesUntilMs ? Math.max(live, this.#live) : live;
    // Until its claims are answered, its share is one among all that it hears of.
    if (!this.#circuit.isClosed) this.#tell(this.#alone(this.#shares.claims));
    if (this.#circuit.isClosed) {
      if (beat.isNew || this.#lacksClaims) await this.#tellAnew();
    } else if (this.#circuit.probed()) {
      this.#changed();
      this.#begin();
      await this.#tellAnew();
    } else this.#beatIn(PROBE_MS);
  }

  async #probe(): Promise<Awaited<ReturnType<Store['heartbeat']>>> {
    if (!this.#isSubscribed) await this.#store.subscribe();
    this.#isSubscribed = true;
    return this.#store.heartbeat(this.#live, this.#shares.claims.length > 0);
  }

  /** The store is in use again, or has lost its data: claims and records are written again. */
  async #tellAnew(): Promise<void> {
    this.#lacksClaims = false;
    this.#shares.forgetStates();
    this.#tell(await this.#sendClaims(this.#shares.claims));
    let batch: (readonly [ProgramId, ProgramRecord])[] = [];
    for (const entry of this.listener.owned()) {
      batch.push(entry);
      if (batch.length < BATCH_MAX) continue;
      await this.#sendRecords(batch);
      batch = [];
    }
    await this.#sendRecords(batch);
  }

  async #sendClaims(claims: readonly EngineClaim[]): Promise<readonly EnginePart[]> {
    const { released } = this.#shares;
    if (claims.length + released.length === 0) return [];
    const answer = this.#store.claim(this.#live, claims, released).then(({ isNew, states }) => {
      this.#shares.releasedFor(released);
      this.#lacksClaims ||= isNew;
      return this.#circuit.isClosed ? this.#shares.read(states) : [];
    });
    let isLate = false;
    answer.then(
      (parts) => isLate && this.#tell(parts),
      () => (this.#lacksClaims = true),
    );
    const parts = await this.#circuit.inTime(answer, this.options.limitMs);
    isLate = parts === undefined;
    return parts ?? [];
  }

  async #sendRecords(records: readonly (readonly [ProgramId, ProgramRecord])[]): Promise<void> {
    if (records.length === 0) return;
    for (const program of (await this.#use(() => this.#store.put(records))) ?? []) this.listener.moved(program);
  }

  async #sendRemembered(entries: readonly Remembered[]): Promise<void> {
    const byTenant = new Map<TenantId, string[]>();
    for (const [tenant, key, name] of entries) byTenant.set(tenant, [...(byTenant.get(tenant) ?? []), key, name]);
    await Promise.all([...byTenant].map(([tenant, texts]) => this.#use(() => this.#store.remember(tenant, texts))));
  }

  #hear(channel: string, text: string): void {
    const { parts, moved } = this.#store.channels;
    if (channel.startsWith(moved)) return this.listener.moved(text as ProgramId);
    if (!this.#circuit.isClosed) return;
    try {
      if (channel.startsWith(parts)) this.#tell(this.#shares.read(parseLedgers(text)));
      else this.#questions.heard(channel, text);
    } catch (error) {
      this.#circuit.failed(error);
    }
  }

  #tell(parts: readonly EnginePart[]): void {
    if (parts.length > 0) this.listener.parts(parts);
  }

  #alone(claims: readonly EngineClaim[]): EnginePart[] {
    return claims.map((claim) => partAlone(claim, this.#live));
  }

  async #use<T>(ask: () => Promise<T>): Promise<T | undefined> {
    return this.#circuit.isClosed ? this.#circuit.inTime(ask(), this.options.limitMs) : undefined;
  }

  #opened(): void {
    this.#records.clear();
    this.#remembered.clear();
    this.#changed();
    this.#tell(this.#alone(this.#shares.claims));
  }

  #changed(): void {
    this.#sinceMs = performance.now();
    this.listener.changed(this.state);
  }
}
