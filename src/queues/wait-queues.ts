import { invariant } from '../invariant.js';
import type { Call } from '../programs/call.js';
import type { Engine } from '../engines/engine.js';
import type { AdmissionClass, WaitQueue, Headroom } from './wait-queue.js';
import type { ModelPool } from './model-pool.js';
import type { Context } from '../kv/context.js';
import type { EngineTable } from '../engines/engine-table.js';
import type { TenantId } from '../protocol/units.js';

/** Calls of a program whose needs are read anew when a context of it changes. */
const SIBLINGS_MAX = 64;
const NO_CALLS: readonly Call[] = [];

/** The waiting calls, each in the queue of the engine that it is bound to or of its model's pool. */
export class WaitQueues {
  #size = 0;
  readonly #ofTenant = new Map<TenantId, number>();

  constructor(private readonly engineTable: EngineTable) {}

  get size(): number {
    return this.#size;
  }

  of(tenant: TenantId): number {
    return this.#ofTenant.get(tenant) ?? 0;
  }

  /** Adds the call, bound to `call.boundTo` or to none. Returns the engines that may run it. */
  insert(call: Call): readonly Engine[] {
    const { boundTo } = call;
    const pool = this.#pool(call);
    this.#count(call, 1);
    this.#queueOf(call).insert(read(call, pool));
    boundTo?.workingSet.expectReturn(call.program, call.thread);
    if (boundTo === undefined) return pool.live;
    boundTo.boundTokens += call.needTokens;
    if (call.isStealable) pool.stealable.insert(call, call, call.countedTokens);
    return [boundTo];
  }

  /** Takes the call out; before anything that its place depends on is changed. */
  delete(call: Call): void {
    this.#count(call, -1);
    const { boundTo } = call;
    this.#queueOf(call).delete(call);
    if (boundTo === undefined) return;
    if (call.isStealable) invariant(this.#pool(call).stealable.delete(call), 'a stealable call is among the stealable');
    boundTo.boundTokens -= call.needTokens;
    invariant(boundTo.boundTokens >= 0, 'no fewer than no tokens wait for an engine');
  }

  /** Other engines may take the call as well. Returns them. */
  makeStealable(call: Call): readonly Engine[] {
    call.isStealable = true;
    if (call.boundTo === undefined) return [];
    const pool = this.#pool(call);
    pool.stealable.insert(call, call, call.countedTokens);
    return pool.live;
  }

  /** The first call bound to the engine, in order, that fits. */
  firstBound(engine: Engine, room: Headroom): Call | undefined {
    let fit = engine.bound.firstFit(room);
    for (; fit !== undefined && isStale(fit, engine); fit = engine.bound.firstFit(room)) this.#reseat(fit);
    return fit;
  }

  /**
   * The call has come or gone, others' contexts were pushed out: what their threads' waiting calls need is read anew. Only of
   * the first few of a program, so that a large fan-out stays cheap; the rest are checked before they run (`firstBound`).
   */
  reread(engine: Engine, call: Call, dropped: readonly Context[]): void {
    this.#rereadThread(engine, call);
    for (const context of dropped) this.#rereadThread(engine, context);
  }

  /**
   * An engine of these pools has come, gone or changed its size: what calls need there is read anew. O(calls), and rare.
   * Returns the engines that may have room for one now.
   */
  resize(engine: Engine, pools: readonly ModelPool[]): Engine[] {
    const needOf = (call: Call): number => readNeeds(call, this.#pool(call)).extraTokens;
    engine.bound.refresh(needOf);
    for (const { unbound, stealable } of pools) {
      unbound.refresh(needOf);
      stealable.refresh((call) => call.countedTokens);
    }
    return pools.flatMap((pool) => pool.live);
  }

  /** Whether another call of the thread, of the first few of its program, waits for the engine. */
  hasSibling(call: Call, engine: Engine): boolean {
    return siblings(call, engine).some((sibling) => sibling !== call);
  }

  #rereadThread(engine: Engine, thread: Pick<Call, 'program' | 'thread'>): void {
    const waiting = siblings(thread, engine);
    for (const sibling of waiting) this.#reseat(sibling);
    if (waiting.length > 0) engine.workingSet.expectReturn(thread.program, thread.thread);
  }

  /** Puts the call into its queue by what is true of it now. */
  #reseat(call: Call): void {
    const queue = this.#queueOf(call);
    queue.delete(call);
    queue.insert(read(call, this.#pool(call)));
  }

  /** Waiting calls at levels up to `level` that this one, which came last, does not pass. */
  ahead(call: Call, level: number): number {
    return this.#queueOf(call).ahead(call, level);
  }

  #queueOf(call: Call): WaitQueue {
    return call.boundTo?.bound ?? this.#pool(call).unbound;
  }

  #pool(call: Call): ModelPool {
    return this.engineTable.pool(call.model);
  }

  #count(call: Call, change: 1 | -1): void {
    const { tenant } = call.program;
    const ofTenant = this.of(tenant) + change;
    this.#size += change;
    invariant(ofTenant >= 0, 'no tenant has fewer than no waiting calls');
    this.#pool(call).waiting += change;
    if (ofTenant === 0) this.#ofTenant.delete(tenant);
    else this.#ofTenant.set(tenant, ofTenant);
  }
}

/** Calls of the thread that wait for the engine, of the first few of its program. */
function siblings({ program, thread }: Pick<Call, 'program' | 'thread'>, engine: Engine): readonly Call[] {
  const { activeCalls } = program;
  // Most programs have one, and it runs.
  if (activeCalls.length === 1 && activeCalls[0]?.state === 'running') return NO_CALLS;
  const few = activeCalls.slice(0, SIBLINGS_MAX);
  return few.filter((call) => call.state === 'waiting' && call.boundTo === engine && call.thread === thread);
}

function isStale(call: Call, engine: Engine): boolean {
  return call.extraTokens !== engine.workingSet.extraTokens(call) || call.admissionClass !== entryOf(call);
}

function entryOf(call: Call): AdmissionClass {
  if (call.boundTo?.workingSet.get(call.program, call.thread) !== undefined) return 'resident';
  return call.isAged ? 'aged' : 'new';
}

/** Reads the call's needs and entry anew; only for a call in no queue. */
function read(call: Call, pool: ModelPool): Call {
  call.admissionClass = entryOf(call);
  return readNeeds(call, pool);
}

function readNeeds(call: Call, pool: ModelPool): Call {
  call.countedTokens = call.boundTo?.workingSet.countedTokens(call, call.needTokens) ?? pool.countedTokens(call);
  call.extraTokens = call.boundTo?.workingSet.extraTokens(call) ?? call.countedTokens;
  return call;
}
