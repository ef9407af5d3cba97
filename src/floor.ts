import type { Balancer } from './balancer.js';
import type { Call } from './call.js';
import type { SchedulerConfig } from './config.js';
import type { Engine } from './engine.js';
import type { EngineJoined } from './events.js';
import { before } from './fit-tree.js';
import { firstOf, type Room } from './lane.js';
import type { Pool } from './pool.js';
import { Residency, type Left } from './residency.js';
import { kindOf } from './returns.js';
import type { Program } from './program.js';
import { Roster } from './roster.js';
import type { ModelId, TenantId } from './units.js';
import { Waiting } from './waiting.js';

/** What decides placement; replaced as a whole on reload. */
export interface FloorRules {
  readonly config: SchedulerConfig;
  readonly balancer: Balancer;
  /** False: no window and no gate. */
  readonly admits: boolean;
}

/**
 * The floor: engines, and the calls that wait for them. It knows where a call stands and what has room; it knows
 * nothing of programs' service, of timers or of how calls end.
 *
 * Between two events no waiting call can be placed: only engines that an event touched are looked at (`#touched`), each
 * at O(pools x log n), so a call that waits for a full engine costs the others nothing.
 */
export class Floor {
  readonly roster = new Roster();
  readonly #waiting = new Waiting(this.roster);
  /** Engines to which something has happened that may let a waiting call go: no set, as it is emptied in every step. */
  readonly #touched: Engine[] = [];
  readonly #resting = new Set<Engine>();
  #fadeAtMs = Infinity;
  /** What contexts have last faded by, and the engines to which something has happened since. */
  #settledStep = NaN;
  #settledRules: FloorRules | undefined;
  readonly #unsettled = new Set<Engine>();

  constructor(public rules: FloorRules) {}

  /** Waiting calls. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Whether more calls wait, in all or of the tenant, than may. */
  overflows(tenant: TenantId): boolean {
    const { queuedMax, queuedPerTenantMax } = this.rules.config.limits;
    return this.waiting > queuedMax || this.#waiting.of(tenant) > queuedPerTenantMax;
  }

  /** The program is over: no engine need keep anything of it. */
  forget(program: Program): void {
    for (const engine of this.roster.engines.values()) if (engine.residency.forget(program)) this.touch(engine);
  }

  /** Adds the engine or updates it. Returns the waiting calls that lost their place by it (see `Roster.serves`). */
  join(event: EngineJoined): Call[] {
    const engine = this.roster.join(event, this.rules.config.admission);
    this.#resting.delete(engine);
    this.#unsettled.add(engine);
    return this.#serve(engine, event.models);
  }

  /** Takes the engine out of service. Returns the waiting calls that lost their place by it (see `Roster.serves`). */
  leave(engine: Engine, state: 'lost' | 'draining'): Call[] {
    // What drains is leaving already: as lost, its row would stay for ever.
    if (engine.state === 'draining') return [];
    engine.leave(state);
    this.rules.balancer.lost?.(engine);
    const displaced = this.#serve(engine, state === 'lost' ? engine.pools.map((pool) => pool.model) : []);
    this.roster.removeIfDone(engine);
    return displaced;
  }

  /** The call, whose model is served, starts to wait where the balancer says. */
  enqueue(call: Call): void {
    call.state = 'waiting';
    call.pinned = call.roams ? undefined : this.#pin(call);
    this.#insert(call);
  }

  /** The engine that the call must wait for, by the balancer. A call that an engine broke is tried elsewhere first. */
  #pin(call: Call): Engine | undefined {
    const { balancer } = this.rules;
    const pool = this.#pool(call);
    if (call.avoid !== undefined) {
      const others = pool.live.filter((engine) => engine !== call.avoid);
      if (others.length > 0) return balancer.choose(call, others);
    }
    const { home } = call.program;
    return balancer.place(call, home?.pools.includes(pool) === true ? home : undefined, pool.live);
  }

  /** The call waits no longer, for whatever reason. */
  withdraw(call: Call): void {
    this.#waiting.delete(call);
    this.#unpin(call);
    call.spillable = false;
    const reserved = call.reservedOn;
    if (reserved === undefined) return;
    call.reservedOn = undefined;
    if (reserved.reservedFor === call) reserved.reservedFor = undefined;
    this.touch(reserved);
  }

  /** Moves a waiting call to the front; one that roams may then run anywhere. */
  promote(call: Call): void {
    this.#waiting.delete(call);
    call.level = 0;
    call.rank = 0;
    if (call.roams) {
      this.#unpin(call);
      call.spillable = false;
    }
    this.#insert(call);
  }

  /** The call waits for its engine no longer: what that keeps for it is free, unless another of its thread waits there. */
  #unpin(call: Call): void {
    const engine = call.pinned;
    call.pinned = undefined;
    if (engine === undefined || this.#waiting.hasSibling(call, engine)) return;
    if (engine.residency.unwant(call.program, call.thread)) this.touch(engine);
  }

  /** The call has waited `reserveMs`: from now on idle programs must make way for it. */
  insist(call: Call): void {
    call.insistent = true;
    this.#waiting.delete(call);
    this.#insert(call);
  }

  /** Whether the engine that the call waits for has finished anything since it began to wait. */
  isMoving(call: Call): boolean {
    return call.pinned !== undefined && call.pinned.finishedAtMs >= call.queuedAtMs;
  }

  /** The call has waited long enough to leave its engine. */
  letSpill(call: Call): void {
    for (const engine of this.#waiting.letSpill(call)) this.touch(engine);
  }

  /** Something about the engine changed that may let a waiting call go. */
  touch(engine: Engine): void {
    if (this.waiting === 0 || engine.touched) return;
    engine.touched = true;
    this.#touched.push(engine);
  }

  /** The call runs on the engine. */
  seat(call: Call, engine: Engine, nowMs: number): void {
    this.withdraw(call);
    call.state = 'running';
    call.engine = engine;
    engine.running.add(call);
    engine.runningTokens += call.needTokens;
    if (call.entry === 'insistent' && call.extraTokens > engine.room(this.rules.config.admission.gate, 0).patient)
      engine.turnAtMs = nowMs + this.rules.config.admission.turnMs;
    const gateTokens = this.rules.admits ? engine.gateTokens(this.rules.config.admission.gate) : Infinity;
    const dropped = engine.residency.enter(call, gateTokens);
    engine.window.observe(engine.inFlight);
    this.#waiting.reread(engine, call, dropped);
  }

  /** The call runs no longer. @param left what it left in the engine's cache, undefined when it failed */
  unseat(call: Call, engine: Engine, left?: Left, calledTool = false): void {
    call.engine = undefined;
    this.#unsettled.add(engine);
    engine.running.delete(call);
    engine.runningTokens -= call.needTokens;
    const kind = kindOf(call, calledTool, call.program.home === engine);
    const dropped = engine.residency.leave(call, left, kind);
    if (engine.state !== 'up') engine.residency.clear();
    this.#waiting.reread(engine, call, dropped);
    this.touch(engine);
    this.roster.removeIfDone(engine);
  }

  /**
   * The first call, in order, that some engine has room for, and that engine. Called until there is none.
   * The caller seats the call before it asks again.
   */
  next(nowMs: number): { call: Call; engine: Engine } | undefined {
    let first = this.#first(nowMs);
    while (first !== undefined && this.#sendHome(first.call)) first = this.#first(nowMs);
    if (first === undefined || first.call.pinned !== undefined) return first;
    const { call } = first;
    const open = this.#pool(call).live.filter((engine) => this.#takes(engine, call, nowMs));
    return { call, engine: this.rules.balancer.choose(call, open) };
  }

  #first(nowMs: number): { call: Call; engine: Engine } | undefined {
    let first: { call: Call; engine: Engine } | undefined;
    let kept = 0;
    for (const engine of this.#touched) {
      const call = this.#pick(engine, nowMs);
      engine.touched = call !== undefined;
      if (call === undefined) continue;
      this.#touched[kept++] = engine;
      if (first === undefined || before(call, first.call)) first = { call, engine };
    }
    while (this.#touched.length > kept) this.#touched.pop();
    return first;
  }

  /** Binds a call whose program has got a home since it began to wait, where the balancer wants that. */
  #sendHome(call: Call): boolean {
    if (call.pinned !== undefined || call.roams || call.program.home === undefined) return false;
    const pinned = this.#pin(call);
    if (pinned === undefined) return false;
    if (call.reservedOn !== undefined) this.#release(call.reservedOn);
    this.#waiting.delete(call);
    call.pinned = pinned;
    this.#insert(call);
    return true;
  }

  /** The engine said "no room": it gets nothing before `untilMs`. */
  rest(engine: Engine, untilMs: number): void {
    engine.restUntilMs = untilMs;
    this.#resting.add(engine);
    this.#release(engine);
  }

  /** Looks again at what time has opened: engines that have rested, gates behind which contexts have faded. */
  passTime(nowMs: number): void {
    for (const engine of this.#resting) {
      if (engine.restUntilMs > nowMs) continue;
      this.#resting.delete(engine);
      this.touch(engine);
    }
    const { admission, policy } = this.rules.config;
    const step = Residency.stepOf(nowMs, admission.halfLifeMs);
    const isNew = step !== this.#settledStep || this.rules !== this.#settledRules;
    // All engines in a new step, so that what comes next is counted from now: a context left here has not been idle yet.
    if (isNew) for (const engine of this.roster.engines.values()) this.#unsettled.add(engine);
    for (const engine of this.#unsettled) engine.settle(nowMs, admission.halfLifeMs, policy.msPerPromptToken);
    if (this.#unsettled.size > 0) this.#unsettled.clear();
    this.#settledStep = step;
    this.#settledRules = this.rules;
    if (nowMs >= this.#fadeAtMs) for (const engine of this.roster.engines.values()) this.touch(engine);
  }

  /** When `passTime` may next find something; Infinity when only events can. */
  nextChangeMs(nowMs: number): number {
    const { halfLifeMs } = this.rules.config.admission;
    this.#fadeAtMs = this.#gateHolds(nowMs) ? Residency.nextStepMs(nowMs, halfLifeMs) : Infinity;
    let at = this.#fadeAtMs;
    for (const engine of this.#resting) at = Math.min(at, engine.restUntilMs);
    return at;
  }

  /** Whether calls wait while a gated engine has a free slot: then only the gate keeps them, and it opens by itself. */
  #gateHolds(nowMs: number): boolean {
    if (this.waiting === 0 || !this.rules.admits || this.rules.config.admission.gate === 0) return false;
    for (const engine of this.roster.engines.values())
      if (engine.capacityTokens !== undefined && this.#hasSlot(engine, nowMs)) return true;
    return false;
  }

  /** The first call, in order, that the engine has room for; its own and its pools' first, others' when there are none. */
  #pick(engine: Engine, nowMs: number): Call | undefined {
    if (!this.#hasSlot(engine, nowMs)) return undefined;
    const room = this.#room(engine, nowMs);
    let fit = this.#waiting.firstPinned(engine, room);
    let head = engine.pinned.firstKept;
    for (const pool of engine.pools) {
      fit = firstOf(fit, pool.anywhere.firstFit(room));
      head = firstOf(head, pool.anywhere.firstKept);
    }
    const reserved = this.#reservation(engine, head === fit ? undefined : head, nowMs);
    if (reserved !== undefined && (fit === undefined || before(reserved, fit))) return undefined;
    if (fit !== undefined) return fit;
    for (const pool of engine.pools) fit = firstOf(fit, pool.spillable.firstFit(room.patient));
    return fit;
  }

  /** Whether the engine would run the call, which is bound to none, now. */
  #takes(engine: Engine, call: Call, nowMs: number): boolean {
    if (!this.#hasSlot(engine, nowMs)) return false;
    if (call.extraTokens > this.#room(engine, nowMs)[call.entry]) return false;
    return engine.reservedFor === undefined || !before(engine.reservedFor, call);
  }

  /**
   * The call that the engine's room is kept for: an insistent one that does not fit even beside what is in flight. What is
   * behind it waits until it does. A call that may run anywhere reserves one engine only, that with most room.
   */
  #reservation(engine: Engine, head: Call | undefined, nowMs: number): Call | undefined {
    if (engine.reservedFor !== undefined) return engine.reservedFor;
    if (head === undefined || head.reservedOn !== undefined) return undefined;
    if (head.entry === 'insistent' && nowMs < engine.turnAtMs) return undefined;
    if (head.pinned === undefined && this.#roomiest(this.#pool(head), nowMs) !== engine) return undefined;
    engine.reservedFor = head;
    head.reservedOn = engine;
    return head;
  }

  /** The engine keeps no room any more: who waits for it may find some elsewhere. */
  #release(engine: Engine): void {
    if (engine.reservedFor === undefined) return;
    engine.reservedFor.reservedOn = undefined;
    engine.reservedFor = undefined;
    this.touch(engine);
  }

  #roomiest(pool: Pool, nowMs: number): Engine | undefined {
    const whole = (engine: Engine): number => this.#room(engine, nowMs).insistent;
    const open = pool.live.filter((engine) => engine.isOpen(nowMs));
    return open.reduce<Engine | undefined>((a, b) => (a === undefined || whole(b) > whole(a) ? b : a), undefined);
  }

  #hasSlot(engine: Engine, nowMs: number): boolean {
    if (!engine.isOpen(nowMs)) return false;
    return engine.inFlight < engine.windowSize || (!this.rules.admits && !engine.probation);
  }

  #room(engine: Engine, nowMs: number): Room {
    return engine.room(this.rules.admits ? this.rules.config.admission.gate : 0, nowMs);
  }

  #pool(call: Call): Pool {
    return this.roster.pool(call.model);
  }

  #insert(call: Call): void {
    for (const engine of this.#waiting.insert(call)) this.touch(engine);
  }

  /** Makes the engine's pools those of `models`, and gives back, placed anew, the calls that it ran or would have run. */
  #serve(engine: Engine, models: readonly ModelId[]): Call[] {
    const homeless = [...engine.pinned].filter((call) => engine.state !== 'up' || !models.includes(call.model));
    for (const call of homeless) this.withdraw(call);
    this.#release(engine);
    const left = this.roster.serve(engine, models);
    for (const other of this.#waiting.resize(engine, [...left, ...engine.pools])) this.touch(other);
    for (const call of homeless) this.enqueue(call);
    this.touch(engine);
    const unserved = left.filter((pool) => pool.engines.length === 0).flatMap((pool) => [...pool.anywhere]);
    return [...new Set([...homeless, ...unserved])];
  }
}
