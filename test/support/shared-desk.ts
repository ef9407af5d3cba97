import {
  REDIS_TIMES,
  RedisState,
  type EngineClaim,
  type EnginePart,
  type GatewayId,
  type RedisOptions,
  type SharedListener,
  type SharedState,
} from '../../cluster/index.js';
import type { MemoryStore } from '../../sim/virtual/memory-store.js';
import {
  engineId,
  NO_STEPS,
  tenantId,
  type EngineId,
  type Millis,
  type ProgramId,
  type ProgramRecord,
  type Tokens,
} from '../../src/index.js';

export const STORE_DEFAULTS = {
  ...REDIS_TIMES,
  gateways: 1,
  limitMs: 3,
  heartbeatMs: 1000,
  leaseMs: 15_000,
  programsMax: 100_000,
  keysMax: 100_000,
  answer: () => Promise.resolve(''),
} satisfies Partial<RedisOptions>;

/** A gateway's place at a store: what it has heard, and what it owns. */
export class Desk implements SharedListener {
  shared!: SharedState;
  /** Its parts as last heard, and the programs that have moved. */
  readonly engines = new Map<EngineId, EnginePart>();
  readonly movedAway = new Set<ProgramId>();
  readonly records = new Map<ProgramId, ProgramRecord>();
  /** Times at which the store came into use or went out of it. */
  changes = 0;
  #waiting: { readonly until: () => boolean; readonly resolve: () => void }[] = [];

  static inMemory(store: MemoryStore, gateway: GatewayId): Desk {
    const desk = new Desk();
    desk.shared = store.join(gateway, desk);
    return desk;
  }

  /** Waits until the store is in use. A busy machine makes no operation late, if the options do not say so. */
  static async inRedis(
    options: Pick<RedisOptions, 'connection' | 'pool' | 'gateway'> & Partial<RedisOptions>,
  ): Promise<Desk> {
    const desk = new Desk();
    desk.shared = await RedisState.open({ ...STORE_DEFAULTS, limitMs: 5000, settleMs: 0, ...options }, desk);
    await desk.until(() => desk.shared.state.up);
    return desk;
  }

  parts(parts: readonly EnginePart[]): void {
    for (const part of parts) this.engines.set(part.engine, part);
    this.#look();
  }

  moved(program: ProgramId): void {
    this.movedAway.add(program);
    this.#look();
  }

  owned = (): Iterable<readonly [ProgramId, ProgramRecord]> => this.records;

  changed(): void {
    this.changes += 1;
    this.#look();
  }

  async claim(claims: readonly EngineClaim[]): Promise<readonly EnginePart[]> {
    const parts = await this.shared.claim(claims);
    this.parts(parts);
    return parts;
  }

  slots = (engine: string): number | undefined => this.engines.get(engineId(engine))?.slots;

  /** Resolves when it holds, as far as the desk hears of it. */
  until(holds: () => boolean): Promise<void> {
    return holds() ? Promise.resolve() : new Promise((resolve) => this.#waiting.push({ until: holds, resolve }));
  }

  /** All that was sent has arrived: answers and messages come in order, and batches go out before the second question. */
  async settled(): Promise<void> {
    for (let i = 0; i < 2; i += 1) await this.shared.find(tenantId('none'), ['none']);
  }

  #look(): void {
    const done = this.#waiting.filter(({ until }) => until());
    this.#waiting = this.#waiting.filter((each) => !done.includes(each));
    for (const { resolve } of done) resolve();
  }
}

export const recordOf = (serviceMs: number, calls = 1): ProgramRecord => ({
  serviceMs: serviceMs as Millis,
  calls,
  contexts: {},
  root: { calls, firstPromptTokens: 10 as Tokens, contextTokens: 20 as Tokens },
});

/** A claim of one engine that has nothing and wants nothing but what is said. */
export const claimOf = (engine: string, said: Partial<EngineClaim> = {}): EngineClaim => ({
  engine: engineId(engine),
  window: 64,
  inFlight: 0,
  loadTokens: 0 as Tokens,
  weight: 0,
  steps: NO_STEPS,
  ended: 0,
  activeTokens: 0 as Tokens,
  claimTokens: 0 as Tokens,
  cachedTokens: 0 as Tokens,
  waiting: [],
  keeps: 0,
  ...said,
});
