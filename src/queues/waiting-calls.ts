import { invariant } from '../invariant.js';
import type { Call } from '../programs/call.js';
import type { Engine } from '../engines/engine.js';
import type { Accounts } from '../programs/accounts.js';
import type { AdmissionClass, Headroom, WaitQueue } from './wait-queue.js';
import type { ModelPool } from './model-pool.js';
import type { EngineTable } from '../engines/engine-table.js';
import type { TenantId } from '../protocol/units.js';

/** Number of a program's calls whose needs are recomputed when one of its contexts changes. */
const SIBLINGS_MAX = 64;
const NO_CALLS: readonly Call[] = [];

/** All waiting calls, each in the queue of the engine that it is bound to, or else of its model's pool. */
export class WaitingCalls {
  size = 0;
  readonly #ofTenant = new Map<TenantId, number>();

  constructor(
    private readonly engineTable: EngineTable,
    private readonly accounts: Accounts,
  ) {}

  of(tenant: TenantId): number {
    return this.#ofTenant.get(tenant) ?? 0;
  }

  /** Adds the call to the queue of `call.boundTo`, or to one of its pool. Returns the engines that may run it. */
  insert(call: Call): readonly Engine[] {
    const { boundTo } = call;
    const pool = this.#pool(call);
    this.#count(call, 1);
    this.#queueOf(call).insert(read(call, pool));
    boundTo?.workingSet.expectReturn(call.program, call.thread);
    if (boundTo === undefined) return call.isPaused ? [] : pool.live;
    boundTo.loadTokens += call.needTokens;
    if (call.isStealable) pool.stealable.insert(call);
    return [boundTo];
  }

  /** Removes the call. To be called before any field that its place depends on changes. */
  delete(call: Call): void {
    this.#count(call, -1);
    const { boundTo } = call;
    this.#queueOf(call).delete(call);
    if (boundTo === undefined) return;
    if (call.isStealable) this.#pool(call).stealable.delete(call);
    boundTo.loadTokens -= call.needTokens;
    invariant(boundTo.loadTokens >= 0, 'no engine has fewer than no tokens');
  }

  /** Lets other engines take the call as well. Returns them. */
  makeStealable(call: Call): readonly Engine[] {
    call.isStealable = true;
    if (call.boundTo === undefined) return [];
    const pool = this.#pool(call);
    pool.stealable.insert(call);
    return pool.live;
  }

  /** The first call that fits, and the first aged one, of the engine's own and its pools' calls. */
  heads(
    engine: Engine,
    room: Headroom,
    fits: (call: Call) => boolean,
  ): [fit: Call | undefined, head: Call | undefined] {
    let fit = this.#firstBound(engine, room, fits);
    let head = engine.bound.firstAged(this.accounts);
    for (const { unbound } of engine.pools) {
      fit = this.accounts.firstOf(fit, unbound.firstFit(room, this.accounts, fits));
      head = this.accounts.firstOf(head, unbound.firstAged(this.accounts));
    }
    return [fit, head];
  }

  #firstBound(engine: Engine, room: Headroom, fits: (call: Call) => boolean): Call | undefined {
    for (;;) {
      const fit = engine.bound.firstFit(room, this.accounts, fits);
      if (fit === undefined || fit.admissionClass === entryOf(fit)) return fit;
      this.#reseat(fit);
    }
  }

  /**
   * The call began or ended, or contexts were evicted or restored: recomputes the needs of their threads' waiting
   * calls. Only the first few of a program are updated, so that a large fan-out stays cheap. `#firstBound` checks the
   * class of the rest before they run, and placement their needs.
   */
  reread(engine: Engine, threads: Iterable<Pick<Call, 'program' | 'thread'>>): void {
    for (const thread of threads) {
      const waiting = siblings(thread, engine);
      for (const sibling of waiting) this.#reseat(sibling);
      if (waiting.length > 0) engine.workingSet.expectReturn(thread.program, thread.thread);
    }
  }

  /** An engine came, left or changed its size: recomputes needs. O(calls), rare. Returns engines that may have room. */
  resize(engine: Engine, pools: readonly ModelPool[]): Engine[] {
    const ofPools = pools.flatMap(({ unbound, paused, oversized }) => [unbound, paused, oversized]);
    for (const queue of [engine.bound, ...ofPools]) {
      for (const call of queue) readNeeds(call, this.#pool(call));
      queue.refresh();
    }
    for (const { stealable } of pools) stealable.refresh();
    return pools.flatMap((pool) => pool.live);
  }

  /** Whether another call of the thread, among the first few of its program, waits for the engine. */
  hasSibling(call: Call, engine: Engine): boolean {
    return siblings(call, engine).some((sibling) => sibling !== call);
  }

  #reseat(call: Call): void {
    const pool = this.#pool(call);
    const queues = call.isStealable ? [this.#queueOf(call), pool.stealable] : [this.#queueOf(call)];
    for (const queue of queues) queue.delete(call);
    read(call, pool);
    for (const queue of queues) queue.insert(call);
  }

  /** Number of waiting calls at levels up to `level` that this one, the last to arrive, cannot pass. */
  ahead(call: Call, level: number): number {
    return this.#queueOf(call).ahead(call, level);
  }

  #queueOf(call: Call): WaitQueue<Call> {
    const { unbound, paused, oversized } = this.#pool(call);
    return call.boundTo?.bound ?? (call.isPaused ? paused : call.isOversized ? oversized : unbound);
  }

  #pool(call: Call): ModelPool {
    return this.engineTable.pool(call.model);
  }

  #count(call: Call, change: 1 | -1): void {
    const { tenant } = call.program;
    const ofTenant = this.of(tenant) + change;
    this.size += change;
    invariant(ofTenant >= 0, 'no tenant has fewer than no waiting calls');
    this.#pool(call).waiting += change;
    call.program.waiting += change;
    call.turn.waits(change, call.overdue);
    if (ofTenant === 0) this.#ofTenant.delete(tenant);
    else this.#ofTenant.set(tenant, ofTenant);
  }
}

/** Calls of the thread that wait for the engine, among the first few of its program. */
function siblings({ program, thread }: Pick<Call, 'program' | 'thread'>, engine: Engine): readonly Call[] {
  const { activeCalls } = program;
  // Most programs have one active call, and it runs.
  if (activeCalls.length === 1 && activeCalls[0]?.state === 'running') return NO_CALLS;
  const few = activeCalls.slice(0, SIBLINGS_MAX);
  return few.filter((call) => call.state === 'waiting' && call.boundTo === engine && call.thread === thread);
}

function entryOf(call: Call): AdmissionClass {
  if (call.isBackground) return 'new';
  if (call.boundTo?.workingSet.contents.get(call.program, call.thread) !== undefined) return 'resident';
  return call.isAged ? 'aged' : 'new';
}

/** Recomputes the call's needs and admission class; only for a call in no queue. */
function read(call: Call, pool: ModelPool): Call {
  call.admissionClass = entryOf(call);
  return readNeeds(call, pool);
}

function readNeeds(call: Call, pool: ModelPool): Call {
  call.countedTokens = call.boundTo?.workingSet.needs.countedTokens(call, call.needTokens) ?? pool.countedTokens(call);
  call.extraTokens = call.boundTo?.workingSet.needs.roomTokens(call) ?? call.countedTokens;
  return call;
}
