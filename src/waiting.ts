import type { Call } from './call.js';
import type { Engine } from './engine.js';
import type { Entry, Lane, Room } from './lane.js';
import type { Pool } from './pool.js';
import type { Context } from './residency.js';
import type { Roster } from './roster.js';
import type { TenantId } from './units.js';

/** Calls of a program whose needs are read anew when a context of it changes. */
const SIBLINGS_MAX = 64;
const NO_CALLS: readonly Call[] = [];

/** The waiting calls, each in the lane of the engine that it is bound to or of its model's pool. */
export class Waiting {
  #size = 0;
  readonly #ofTenant = new Map<TenantId, number>();

  constructor(private readonly roster: Roster) {}

  get size(): number {
    return this.#size;
  }

  of(tenant: TenantId): number {
    return this.#ofTenant.get(tenant) ?? 0;
  }

  /** Adds the call, bound to `call.pinned` or to none. Returns the engines that may run it. */
  insert(call: Call): readonly Engine[] {
    const { pinned } = call;
    const pool = this.#pool(call);
    this.#count(call, 1);
    this.#laneOf(call).insert(read(call, pool));
    pinned?.residency.want(call.program, call.thread);
    if (pinned === undefined) return pool.live;
    pinned.pinnedTokens += call.needTokens;
    if (call.spillable) pool.spillable.insert(call, call, call.heldTokens);
    return [pinned];
  }

  /** Takes the call out; before anything that its place depends on is changed. */
  delete(call: Call): void {
    this.#count(call, -1);
    if (call.spillable) this.#pool(call).spillable.delete(call);
    this.#laneOf(call).delete(call);
    if (call.pinned !== undefined) call.pinned.pinnedTokens -= call.needTokens;
  }

  /** Other engines may take the call as well. Returns them. */
  letSpill(call: Call): readonly Engine[] {
    call.spillable = true;
    if (call.pinned === undefined) return [];
    const pool = this.#pool(call);
    pool.spillable.insert(call, call, call.heldTokens);
    return pool.live;
  }

  /** The first call bound to the engine, in order, that fits. */
  firstPinned(engine: Engine, room: Room): Call | undefined {
    let fit = engine.pinned.firstFit(room);
    for (; fit !== undefined && isStale(fit, engine); fit = engine.pinned.firstFit(room)) this.#reseat(fit);
    return fit;
  }

  /**
   * The call has come or gone, others' contexts were pushed out: what their threads' waiting calls need is read anew. Only of
   * the first few of a program, so that a large fan-out stays cheap; the rest are checked before they run (`firstPinned`).
   */
  reread(engine: Engine, call: Call, dropped: readonly Context[]): void {
    this.#rereadThread(engine, call);
    for (const context of dropped) this.#rereadThread(engine, context);
  }

  /**
   * An engine of these pools has come, gone or changed its size: what calls need there is read anew. O(calls), and rare.
   * Returns the engines that may have room for one now.
   */
  resize(engine: Engine, pools: readonly Pool[]): Engine[] {
    const needOf = (call: Call): number => readNeeds(call, this.#pool(call)).extraTokens;
    engine.pinned.refresh(needOf);
    for (const { anywhere, spillable } of pools) {
      anywhere.refresh(needOf);
      spillable.refresh((call) => call.heldTokens);
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
    if (waiting.length > 0) engine.residency.want(thread.program, thread.thread);
  }

  /** Puts the call into its lane by what is true of it now. */
  #reseat(call: Call): void {
    const lane = this.#laneOf(call);
    lane.delete(call);
    lane.insert(read(call, this.#pool(call)));
  }

  #laneOf(call: Call): Lane {
    return call.pinned?.pinned ?? this.#pool(call).anywhere;
  }

  #pool(call: Call): Pool {
    return this.roster.pool(call.model);
  }

  #count(call: Call, change: 1 | -1): void {
    const { tenant } = call.program;
    const ofTenant = this.of(tenant) + change;
    this.#size += change;
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
  return few.filter((call) => call.state === 'waiting' && call.pinned === engine && call.thread === thread);
}

function isStale(call: Call, engine: Engine): boolean {
  return call.extraTokens !== engine.residency.extraTokens(call) || call.entry !== entryOf(call);
}

function entryOf(call: Call): Entry {
  if (call.pinned?.residency.get(call.program, call.thread) !== undefined) return 'returning';
  return call.insistent ? 'insistent' : 'patient';
}

/** Reads the call's needs and entry anew; only for a call in no lane. */
function read(call: Call, pool: Pool): Call {
  call.entry = entryOf(call);
  return readNeeds(call, pool);
}

function readNeeds(call: Call, pool: Pool): Call {
  call.heldTokens = call.pinned?.residency.heldTokens(call, call.needTokens) ?? pool.heldTokens(call);
  call.extraTokens = call.pinned?.residency.extraTokens(call) ?? call.heldTokens;
  return call;
}
