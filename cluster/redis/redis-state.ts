import type { EngineId, ProgramId, ProgramRecord, TenantId } from '../../src/index.js';
import type { EngineClaim, EnginePart, GatewayId } from '../messages.js';
import type { Held, SharedListener, SharedState, StoreState, Taken } from '../shared-state.js';
import { Batches, BATCH_MAX } from './batches.js';
import { Circuit } from './circuit.js';
import { makeClient, type Client, type Connection } from './client.js';
import type { ScriptName } from './scripts.js';
import { partAlone, Shares } from './shares.js';
import { claimText, parseClaimed, parseFound, parseHeartbeat, parseHeld, parseLedgers, parsePrograms, parseTaken, recordArguments } from './wire.js'; // prettier-ignore
import { within } from './within.js';

export interface RedisOptions {
  readonly connection: Connection;
  /** Gateways of one pool share their engines: those of one fleet, with the same settings. */
  readonly pool: string;
  readonly gateway: GatewayId;
  /** Expected number of gateways until the store reports it. */
  readonly gateways: number;
  /** Time that an operation may take; later answers count as failures. */
  readonly limitMs: number;
  /** Time between two signs of life, and the time after the last at which a gateway counts as gone. */
  readonly heartbeatMs: number;
  readonly leaseMs: number;
  /** Time that a new ledger keeps the shares of gateways that have not claimed yet. */
  readonly settleMs: number;
  /** Programs that the store keeps, and for how long after their last call. */
  readonly programsMax: number;
  readonly programsMs: number;
  /** Keys of conversations and responses that the store keeps for each tenant, and for how long after their last use. */
  readonly keysMax: number;
  readonly keysMs: number;
}

export const REDIS_DEFAULTS = {
  gateways: 1,
  limitMs: 3,
  heartbeatMs: 1000,
  leaseMs: 15_000,
  settleMs: 3000,
  programsMax: 100_000,
  programsMs: 3_600_000,
  keysMax: 100_000,
  keysMs: 3_600_000,
} satisfies Partial<RedisOptions>;

/** Time between the probes of a store that answers again. */
const PROBE_MS = 50;
/** Time that a new gateway waits for its first contact, and a leaving one for its last. */
const CONTACT_MS_MAX = { first: 1000, last: 500 };
/** Longest key, and most keys of one search: anything beyond is not shared. */
const KEY_CHARS_MAX = 256;
const KEYS_MAX = 64;
/** In a key or a channel, a name must neither end the hash tag nor be read as two. */
const NAME = /^[\w.:-]{1,128}$/;

type Remembered = readonly [tenant: TenantId, key: string, name: string];

/** Names of keys, two for each script, and of channels. */
interface Names {
  readonly engines: readonly string[];
  readonly programs: readonly string[];
  readonly keys: (tenant: TenantId) => readonly string[];
  /** Channels of one gateway, but for its name. */
  readonly parts: string;
  readonly moved: string;
}

/**
 * Shares state through a Redis or Valkey server.
 *
 *     up      operations go to the store; three in a row that fail or are late, or a lost connection, end this
 *     alone   none goes there but a heartbeat; the gateway has an equal share of each engine
 *     return  three heartbeats in time; then claims are made and owned programs are written again
 */
export class RedisState implements SharedState {
  readonly #options: RedisOptions;
  readonly #client: Client;
  readonly #listener: SharedListener;
  readonly #circuit = new Circuit();
  readonly #shares: Shares;
  readonly #records = new Batches<readonly [ProgramId, ProgramRecord]>((records) => this.#sendRecords(records));
  readonly #remembered = new Batches<Remembered>((entries) => this.#sendRemembered(entries));
  readonly #names: Names;
  #sinceMs = performance.now();
  #live: number;
  #gateways: readonly GatewayId[] = [];
  /** Until then, gateways that were live before may not have come back to an emptied store. */
  #settlesUntilMs = 0;
  #timer: NodeJS.Timeout | undefined;
  #isBeating = false;
  #isSubscribed = false;
  /** The store has lost claims that were sent to it. */
  #lacksClaims = false;
  #hasLeft = false;
  #begin: () => void = () => undefined;

  /**
   * Waits for the first contact for up to a second; without it the gateway begins alone.
   * @throws RangeError for names that keys cannot hold; Error if the package ioredis is not installed
   */
  static async open(options: RedisOptions, listener: SharedListener): Promise<RedisState> {
    for (const name of [options.pool, options.gateway])
      if (!NAME.test(name)) throw new RangeError(`not a name of a pool or gateway: ${JSON.stringify(name)}`);
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

  private constructor(options: RedisOptions, client: Client, listener: SharedListener) {
    this.#options = options;
    this.#client = client;
    this.#listener = listener;
    this.#shares = new Shares(options.gateway);
    this.#live = options.gateways;
    const prefix = `maitred:{${options.pool}}:`;
    this.#names = {
      engines: [`${prefix}gateways`, `${prefix}engines`],
      programs: [`${prefix}programs:young`, `${prefix}programs:old`],
      keys: (tenant) => [`${prefix}keys:young:${tenant}`, `${prefix}keys:old:${tenant}`],
      parts: `${prefix}parts:`,
      moved: `${prefix}moved:`,
    };
  }

  get state(): StoreState {
    const { isClosed, failures, error } = this.#circuit;
    const said = error === undefined ? {} : { error };
    return { up: isClosed, sinceMs: this.#sinceMs, live: this.#live, gateways: this.#gateways, failures, ...said };
  }

  claim(claims: readonly EngineClaim[]): Promise<readonly EnginePart[]> {
    this.#shares.claim(claims);
    return this.#circuit.isClosed ? this.#sendClaims(claims) : Promise.resolve(this.#alone(claims));
  }

  release(engine: EngineId): void {
    this.#shares.release(engine);
    if (this.#circuit.isClosed) void this.#sendClaims([]);
  }

  async take(program: ProgramId): Promise<Taken | undefined> {
    if (!this.#circuit.isClosed) return undefined;
    const { gateway } = this.#options;
    return this.#inTime(this.#onPrograms('maitredTake', [gateway, program, this.#names.moved]).then(parseTaken));
  }

  put(program: ProgramId, record: ProgramRecord): void {
    if (this.#circuit.isClosed) this.#records.add(program, [program, record]);
  }

  forget(program: ProgramId): void {
    this.#records.delete(program);
    if (this.#circuit.isClosed) void this.#inTime(this.#onPrograms('maitredForget', [this.#options.gateway, program]));
  }

  remember(tenant: TenantId, key: string, name: string): void {
    if (!this.#circuit.isClosed || key.length > KEY_CHARS_MAX) return;
    this.#remembered.add(`${tenant}\n${key}`, [tenant, key, name]);
  }

  async find(tenant: TenantId, keys: readonly string[]): Promise<string | undefined> {
    const known = keys.filter((key) => key.length <= KEY_CHARS_MAX).slice(0, KEYS_MAX);
    if (!this.#circuit.isClosed || known.length === 0) return undefined;
    return this.#inTime(this.#onKeys('maitredFind', tenant, known).then(parseFound));
  }

  async hold(name: string, value: string, leaseMs: number): Promise<Held | undefined> {
    if (!this.#circuit.isClosed) return undefined;
    const { pool, gateway } = this.#options;
    const key = `maitred:{${pool}}:holds:${name}`;
    return this.#inTime(this.#run('maitredHold', [key, key], [gateway, value, `${leaseMs}`]).then(parseHeld));
  }

  async leave(): Promise<void> {
    if (this.#hasLeft) return;
    this.#hasLeft = true;
    clearTimeout(this.#timer);
    if (this.#circuit.isClosed) {
      const told = Promise.all([this.#records.sent, this.#remembered.sent]);
      const left = told.then(() => this.#onEngines('maitredLeave'));
      await within(left, CONTACT_MS_MAX.last).catch((error: unknown) => this.#fail(error));
    }
    this.#circuit.isClosed = false;
    this.#client.disconnect();
  }

  #connect(): void {
    const client = this.#client;
    client.on('ready', () => void this.#beat());
    client.on('error', (error) => this.#fail(error));
    client.on('close', () => {
      this.#isSubscribed = false;
      if (this.#circuit.isClosed) this.#fail(new Error('the connection to the store was lost'), true);
    });
    client.on('message', (channel, text) => this.#hear(channel, text));
    client.connect().catch(() => undefined); // The listeners hear of it.
    this.#beatIn(this.#options.heartbeatMs);
  }

  #beatIn(ms: number): void {
    clearTimeout(this.#timer);
    if (!this.#hasLeft) this.#timer = setTimeout(() => void this.#beat(), ms);
  }

  /** Sends a sign of life, and looks whether the store is well. One at a time, however long its answer takes. */
  async #beat(): Promise<void> {
    this.#beatIn(this.#options.heartbeatMs);
    // Without a connection, the reason is known: it must not give way to that nothing can be sent.
    if (this.#isBeating || this.#client.status !== 'ready') return;
    this.#isBeating = true;
    const answer = this.#probe().finally(() => (this.#isBeating = false));
    // The first on a connection subscribes, and the server reads the script.
    const beat = await this.#inTime(answer, this.#isSubscribed ? this.#options.limitMs : CONTACT_MS_MAX.first);
    if (beat === undefined || this.#hasLeft) return;
    const nowMs = performance.now();
    if (beat.isNew || !this.#circuit.isClosed) this.#settlesUntilMs = nowMs + this.#options.settleMs;
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

  async #probe(): Promise<ReturnType<typeof parseHeartbeat>> {
    const { parts, moved } = this.#names;
    const { gateway } = this.#options;
    if (!this.#isSubscribed) await this.#client.subscribe(parts + gateway, moved + gateway);
    this.#isSubscribed = true;
    const hasClaims = this.#shares.claims.length > 0;
    return parseHeartbeat(await this.#onEngines('maitredHeartbeat', hasClaims ? '1' : '0'));
  }

  /** The store is in use again, or has lost its data: claims and records are written again. */
  async #tellAnew(): Promise<void> {
    this.#lacksClaims = false;
    this.#shares.forgetStates();
    this.#tell(await this.#sendClaims(this.#shares.claims));
    let batch: (readonly [ProgramId, ProgramRecord])[] = [];
    for (const entry of this.#listener.owned()) {
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
    const answer = this.#onEngines('maitredClaim', claimText(claims, released)).then((reply) => {
      const { isNew, states } = parseClaimed(reply);
      this.#shares.releasedFor(released);
      this.#lacksClaims ||= isNew;
      return this.#circuit.isClosed ? this.#shares.read(states) : [];
    });
    let isLate = false;
    answer.then(
      (parts) => isLate && this.#tell(parts),
      () => (this.#lacksClaims = true),
    );
    const parts = await this.#inTime(answer);
    isLate = parts === undefined;
    return parts ?? [];
  }

  async #sendRecords(records: readonly (readonly [ProgramId, ProgramRecord])[]): Promise<void> {
    if (!this.#circuit.isClosed || records.length === 0) return;
    const texts = records.flatMap(([program, record]) => recordArguments(program, record));
    const answer = this.#onPrograms('maitredPut', [this.#options.gateway, ...texts]).then(parsePrograms);
    for (const program of (await this.#inTime(answer)) ?? []) this.#listener.moved(program);
  }

  async #sendRemembered(entries: readonly Remembered[]): Promise<void> {
    if (!this.#circuit.isClosed) return;
    const byTenant = new Map<TenantId, string[]>();
    for (const [tenant, key, name] of entries) {
      const texts = byTenant.get(tenant) ?? [];
      byTenant.set(tenant, texts);
      texts.push(key, name);
    }
    const sent = [...byTenant].map(([tenant, texts]) => this.#inTime(this.#onKeys('maitredRemember', tenant, texts)));
    await Promise.all(sent);
  }

  #hear(channel: string, text: string): void {
    if (channel.startsWith(this.#names.moved)) return this.#listener.moved(text as ProgramId);
    if (!this.#circuit.isClosed) return;
    try {
      this.#tell(this.#shares.read(parseLedgers(text)));
    } catch (error) {
      this.#fail(error);
    }
  }

  #tell(parts: readonly EnginePart[]): void {
    if (parts.length > 0) this.#listener.parts(parts);
  }

  #alone(claims: readonly EngineClaim[]): EnginePart[] {
    return claims.map((claim) => partAlone(claim, this.#live));
  }

  /** The answer if it comes in time; otherwise undefined, and the store has failed. */
  async #inTime<T>(answer: Promise<T>, limitMs = this.#options.limitMs): Promise<T | undefined> {
    try {
      const value = await within(answer, limitMs);
      this.#circuit.passed();
      return value;
    } catch (error) {
      this.#fail(error);
      return undefined;
    }
  }

  #fail(error: unknown, isLost = false): void {
    if (!this.#circuit.failed(error, isLost)) return;
    this.#records.clear();
    this.#remembered.clear();
    this.#changed();
    this.#tell(this.#alone(this.#shares.claims));
  }

  #changed(): void {
    this.#sinceMs = performance.now();
    this.#listener.changed(this.state);
  }

  #onEngines(script: ScriptName, text = ''): Promise<unknown> {
    const { gateway, leaseMs, settleMs } = this.#options;
    const { engines, parts } = this.#names;
    return this.#run(script, engines, [gateway, parts, `${leaseMs}`, `${settleMs}`, `${this.#live}`, text]);
  }

  #onPrograms(script: ScriptName, texts: readonly string[]): Promise<unknown> {
    const { programsMs, programsMax } = this.#options;
    return this.#run(script, this.#names.programs, [`${programsMs}`, `${programsMax}`, ...texts]);
  }

  #onKeys(script: ScriptName, tenant: TenantId, texts: readonly string[]): Promise<unknown> {
    const { keysMs, keysMax } = this.#options;
    return this.#run(script, this.#names.keys(tenant), [`${keysMs}`, `${keysMax}`, ...texts]);
  }

  /** The commands of one tick go out with one write. */
  async #run(script: ScriptName, keys: readonly string[], texts: readonly string[]): Promise<unknown> {
    const { stream } = this.#client;
    stream.cork();
    process.nextTick(() => stream.uncork());
    return this.#client[script](...keys, ...texts);
  }
}
