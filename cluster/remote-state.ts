import type { EngineId, ProgramId, ProgramRecord, TenantId } from '../src/index.js';
import type { Taken } from './directory.js';
import { MemoryStore, type MemoryOptions } from './memory-state.js';
import type { EngineClaim, EnginePart, GatewayId } from './messages.js';
import type { SharedListener, SharedState, StoreState } from './shared-state.js';
import { within } from './within.js';

/** Questions in a row without an answer in time, after which none is asked until the store says something. */
const LATE_MAX = 3;
/** Id of requests without an answer. */
const NO_ANSWER = 0;

type Operation = Exclude<keyof SharedState, 'state'>;
/** An operation of a gateway on the store of another process. */
export type StoreRequest = {
  [O in Operation]: { readonly id: number; readonly operation: O; readonly args: Parameters<SharedState[O]> };
}[Operation];

/** What the store tells a gateway of another process. */
export type StoreMessage =
  | { readonly type: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly type: 'parts'; readonly parts: readonly EnginePart[] }
  | { readonly type: 'moved'; readonly program: ProgramId }
  | { readonly type: 'gateways'; readonly gateways: readonly GatewayId[] };

type Post<T> = (message: T) => void;

/** Keeps the state of gateways in other processes. Messages between them must arrive in order. */
export class StateHost {
  readonly #store: MemoryStore;
  readonly #seats = new Map<GatewayId, { readonly shared: SharedState; readonly post: Post<StoreMessage> }>();

  constructor(options: MemoryOptions) {
    this.#store = new MemoryStore(options);
  }

  join(gateway: GatewayId, post: Post<StoreMessage>): void {
    const shared = this.#store.join(gateway, {
      parts: (parts) => post({ type: 'parts', parts }),
      moved: (program) => post({ type: 'moved', program }),
      // The store is never away, and loses nothing.
      owned: () => [],
      changed: () => undefined,
    });
    this.#seats.set(gateway, { shared, post });
    this.#announce();
  }

  /** Requests of a gateway that is gone have no effect. */
  handle(gateway: GatewayId, { id, operation, args }: StoreRequest): void {
    const seat = this.#seats.get(gateway);
    if (seat === undefined) return;
    if (operation === 'leave') return this.leave(gateway);
    const result = (seat.shared[operation] as (...all: readonly unknown[]) => unknown)(...args);
    if (result instanceof Promise) void result.then((value) => seat.post({ type: 'answer', id, value }));
  }

  /** The gateway has ended, perhaps without a word: others get its slots. */
  leave(gateway: GatewayId): void {
    const seat = this.#seats.get(gateway);
    if (seat === undefined) return;
    this.#seats.delete(gateway);
    void seat.shared.leave();
    this.#announce();
  }

  #announce(): void {
    const gateways = [...this.#seats.keys()];
    for (const { post } of this.#seats.values()) post({ type: 'gateways', gateways });
  }
}

/**
 * A gateway's way to the store of another process.
 *
 * If that process stands still, calls go on without its answers, and with the slots that the gateway has. If it ends,
 * so must this one: it has nobody to share with.
 */
export class RemoteState implements SharedState {
  readonly #answers = new Map<number, (value: never) => void>();
  #lastId = 0;
  #late = 0;
  #failures = 0;
  #sinceMs = performance.now();
  #gateways: readonly GatewayId[] = [];

  /** @param limitMs time for an answer that a call waits for */
  constructor(
    private readonly post: Post<StoreRequest>,
    private readonly listener: SharedListener,
    private readonly limitMs: number,
  ) {}

  get state(): StoreState {
    const gateways = this.#gateways;
    const [live, failures] = [Math.max(1, gateways.length), this.#failures];
    const said = failures === 0 ? {} : { error: `an answer took longer than ${this.limitMs} ms` };
    return { up: this.#isUp, sinceMs: this.#sinceMs, live, gateways, failures, ...said };
  }

  get #isUp(): boolean {
    return this.#late < LATE_MAX;
  }

  /** One task for each message: the gateway uses a claim's answer only after a promise, and later parts must not overtake it. */
  hear(message: StoreMessage): void {
    setImmediate(() => this.#hear(message));
  }

  #hear(message: StoreMessage): void {
    const wasUp = this.#isUp;
    this.#late = 0;
    if (!wasUp) this.#changed();
    if (message.type === 'parts') this.listener.parts(message.parts);
    else if (message.type === 'moved') this.listener.moved(message.program);
    else if (message.type === 'gateways') this.#gateways = message.gateways;
    else this.#answered(message.id, message.value);
  }

  /** No call waits for it, so it takes as long as it takes. */
  claim(claims: readonly EngineClaim[]): Promise<readonly EnginePart[]> {
    return this.#send('claim', claims);
  }

  release(engine: EngineId): void {
    this.#tell('release', engine);
  }

  take(program: ProgramId): Promise<Taken | undefined> {
    return this.#ask<Taken>('take', program);
  }

  put(program: ProgramId, record: ProgramRecord): void {
    this.#tell('put', program, record);
  }

  forget(program: ProgramId): void {
    this.#tell('forget', program);
  }

  remember(tenant: TenantId, key: string, name: string): void {
    this.#tell('remember', tenant, key, name);
  }

  find(tenant: TenantId, keys: readonly string[]): Promise<string | undefined> {
    return this.#ask<string>('find', tenant, keys);
  }

  leave(): Promise<void> {
    this.#tell('leave');
    return Promise.resolve();
  }

  #tell<O extends Operation>(operation: O, ...args: Parameters<SharedState[O]>): void {
    this.post({ id: NO_ANSWER, operation, args } as StoreRequest);
  }

  #send<T, O extends Operation>(operation: O, ...args: Parameters<SharedState[O]>): Promise<T> {
    const id = (this.#lastId += 1);
    return new Promise((resolve) => {
      this.#answers.set(id, resolve);
      this.post({ id, operation, args } as StoreRequest);
    });
  }

  /** Undefined: the answer is late, or would be. */
  async #ask<T>(
    operation: 'take' | 'find',
    ...args: Parameters<SharedState[typeof operation]>
  ): Promise<T | undefined> {
    if (!this.#isUp) return undefined;
    try {
      return await within(this.#send<T, typeof operation>(operation, ...args), this.limitMs);
    } catch {
      this.#failures += 1;
      this.#late += 1;
      if (this.#late === LATE_MAX) this.#changed();
      return undefined;
    }
  }

  #answered(id: number, value: unknown): void {
    const resolve = this.#answers.get(id);
    this.#answers.delete(id);
    resolve?.(value as never);
  }

  #changed(): void {
    this.#sinceMs = performance.now();
    this.listener.changed(this.state);
  }
}
