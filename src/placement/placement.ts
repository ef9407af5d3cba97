import { invariant } from '../invariant.js';
import type { Call } from '../programs/call.js';
import type { Engine } from '../engines/engine.js';
import type { EngineJoined, EngineShared } from '../protocol/events.js';
import type { Context, Left } from '../kv/context.js';
import { maySpill } from '../programs/escalation.js';
import { Accounts } from '../programs/accounts.js';
import type { Program } from '../programs/process-table.js';
import { bindingOf, isMoving, mayStay, named, openTo } from './eligible.js';
import { paceOf, paceUntilMs } from './background.js';
import { gateHolds, gateOf } from './obstacle.js';
import { isOversized, resizedIn, type Match } from './oversized.js';
import type { PlacementRules } from './balancer.js';
import { Search } from './search.js';
import { Settling } from './settling.js';
import type { CompletionIndex } from '../programs/completion-index.js';
import { EngineTable } from '../engines/engine-table.js';
import type { ModelId } from '../protocol/units.js';
import { WaitingCalls } from '../queues/waiting-calls.js';

/** Engines, their room, and the calls that wait for them. Between two events no waiting call can be placed. */
export class Placement {
  readonly engineTable = new EngineTable();
  readonly accounts: Accounts;
  readonly queues: WaitingCalls;
  readonly search: Search;
  readonly #settling = new Settling();
  readonly #isOversized = (call: Call): boolean =>
    this.rules.policy.admits &&
    isOversized(call, this.engineTable.pool(call.model).live, this.rules.config.admission.gate);

  constructor(
    public rules: PlacementRules,
    readonly completionIndex: CompletionIndex,
  ) {
    this.accounts = new Accounts(rules.config);
    this.queues = new WaitingCalls(this.engineTable, this.accounts);
    this.search = new Search(this, this.engineTable, this.queues, (call) => this.replace(call));
  }

  completed({ model, dispatchedAtMs, isOversized }: Call, engine: Engine, nowMs: number): void {
    if (isOversized) return;
    this.accounts.completed(nowMs - dispatchedAtMs);
    const pool = engine.pools.find((each) => each.model === model);
    pool?.drainRate.completed(pool.waiting > 0, nowMs);
  }

  forget(program: Program): void {
    for (const engine of this.engineTable.engines.values()) {
      engine.rests.forget(program);
      if (engine.workingSet.forget(program)) this.touch(engine);
    }
  }

  /** Other gateways' part of the engine has changed, and with it the room for idle contexts. */
  share(engine: Engine, event: EngineShared, nowMs: number): void {
    this.queues.reread(engine, engine.share(event, nowMs));
    engine.workingSet.reclaim(gateOf(engine, this.rules));
    this.touch(engine);
  }

  recounted(engine: Engine, contexts: readonly Context[]): void {
    if (contexts.length === 0) return;
    this.queues.reread(engine, contexts);
    this.touch(engine);
  }

  /** Adds the engine or updates it. Returns the waiting calls whose place or deadline it changed. */
  join(event: EngineJoined): Call[] {
    const engine = this.engineTable.join(event, this.rules.config.admission);
    this.#settling.unsettle(engine);
    const displaced = this.#serve(engine, event.models);
    this.retryOn(engine);
    // On probation it takes no call that has failed: the others may take those that waited for it.
    if (engine.probation) for (const { live } of engine.pools) for (const other of live) this.retryOn(other);
    return displaced;
  }

  /** Takes the engine out of service. Returns the waiting calls whose place or deadline it changed. */
  leave(engine: Engine, state: 'lost' | 'draining', nowMs: number, silentMs = 0): Call[] {
    // Ignore draining engines: marking them lost would keep their row for ever.
    if (engine.state === 'draining') return [];
    engine.leave(state, nowMs, silentMs);
    this.rules.balancer.lost?.(engine);
    const displaced = this.#serve(engine, state === 'lost' ? engine.pools.map((pool) => pool.model) : []);
    this.engineTable.removeIfDone(engine);
    return displaced;
  }

  /** The call starts to wait where the balancer says; its model is served. */
  enqueue(call: Call): void {
    call.state = 'waiting';
    const { live } = this.engineTable.pool(call.model);
    const [able, open] = [named(call, live).length, openTo(call, live).length];
    call.isOversized = this.#isOversized(call);
    call.isPaused = open === 0 && (able > 0 || call.failedOn.length > 0);
    const isFree = call.isPaused || call.isOversized || (call.isUnbound && open === able);
    call.boundTo = isFree ? undefined : bindingOf(call, this);
    if (!isFree && call.boundTo === undefined)
      for (const engine of live) if (engine.workingSet.forgoReturn(call.program, call.thread)) this.touch(engine);
    for (const engine of this.queues.insert(call)) this.touch(engine);
  }

  retryOn(engine: Engine): void {
    for (const { paused } of engine.pools)
      for (const call of [...paused]) if (openTo(call, [engine]).length > 0) this.replace(call);
  }

  /** The rules of where the call waits have changed. */
  replace(call: Call): void {
    this.withdraw(call);
    this.enqueue(call);
  }

  withdraw(call: Call): void {
    this.queues.delete(call);
    this.#unbind(call);
    call.isStealable = false;
    const reserved = call.reservedOn;
    if (reserved === undefined) return;
    call.reservedOn = undefined;
    if (reserved.reservedFor === call) reserved.reservedFor = undefined;
    this.touch(reserved);
  }

  /** Moves a waiting call to the front. An overdue call is aged, and leaves its engine if it may. */
  promote(call: Call, isOverdue: boolean): void {
    this.queues.delete(call);
    call.level = 0;
    call.rank = 0;
    if (isOverdue) {
      call.overdue = true;
      call.isAged = true;
      call.isUnbound ||= maySpill(call, this.rules.balancer) && !isMoving(call);
    }
    if (call.isUnbound) {
      this.#unbind(call);
      call.isStealable = false;
    }
    for (const engine of this.queues.insert(call)) this.touch(engine);
  }

  /** Frees the call from its engine, with the room kept for its return, unless a call of its thread waits there too. */
  #unbind(call: Call): void {
    const engine = call.boundTo;
    call.boundTo = undefined;
    if (engine === undefined || this.queues.hasSibling(call, engine)) return;
    if (engine.workingSet.cancelReturn(call.program, call.thread)) this.touch(engine);
  }

  makeStealable(call: Call): void {
    for (const engine of this.queues.makeStealable(call)) this.touch(engine);
  }

  touch(engine: Engine): void {
    this.search.touch(engine);
  }

  /** The call runs on the engine: an over-long one outside of window, gate and working set. */
  occupy(call: Call, engine: Engine, nowMs: number): void {
    this.withdraw(call);
    call.state = 'running';
    call.engine = engine;
    engine.running.add(call);
    if (call.isOversized) return;
    engine.loadTokens += call.needTokens;
    if (call.admissionClass === 'aged' && call.extraTokens > engine.headroom(this.rules.config.admission.gate, 0).new)
      engine.noteDisplacement(nowMs, this.rules.config.admission.turnMs);
    const dropped = engine.workingSet.enter(call, gateOf(engine, this.rules));
    engine.batch.add(call, nowMs);
    engine.began(call);
    if (call.isBackground) engine.paced = paceOf(call, engine, this.rules, nowMs);
    this.accounts.runs(call.turn, 1);
    engine.limit.observe(engine.inFlightAnywhere);
    this.queues.reread(engine, [call, ...dropped]);
  }

  /** The call no longer runs; `left` is its trace in the engine's cache. */
  vacate(call: Call, engine: Engine, left: Left, nowMs: number): void {
    call.engine = undefined;
    invariant(engine.running.delete(call), 'a call that ends runs on its engine');
    if (!call.isOversized) this.#makeRoom(call, engine, left, nowMs);
    this.touch(engine);
    this.engineTable.removeIfDone(engine);
  }

  #makeRoom(call: Call, engine: Engine, left: Left, nowMs: number): void {
    engine.batch.remove(call, nowMs);
    this.accounts.runs(call.turn, -1);
    this.#settling.unsettle(engine);
    engine.loadTokens -= call.needTokens;
    const changed = engine.workingSet.leave(call, left);
    if (engine.state !== 'up') engine.workingSet.clear();
    this.queues.reread(engine, [call, ...changed]);
  }

  /** The first call, in order, that has room, and its engine. The caller places it and asks again. */
  next(nowMs: number): Match | undefined {
    let first = this.search.first(nowMs);
    while (first !== undefined && this.#sendHome(first.call, nowMs)) first = this.search.first(nowMs);
    if (first === undefined || first.call.boundTo !== undefined || first.call.isOversized) return first;
    const { call } = first;
    const open = this.engineTable.pool(call.model).live.filter((engine) => this.search.takes(engine, call, nowMs));
    // An engine on probation comes first: while others have room, no balancer need ever choose it.
    const half = open.filter((engine) => engine.probation);
    return { call, engine: this.rules.balancer.choose(call, half.length > 0 ? half : open) };
  }

  /** Binds a call whose program has found a home, if the balancer wants it; a stealable one only if it runs at once. */
  #sendHome(call: Call, nowMs: number): boolean {
    if (call.boundTo !== undefined || call.isUnbound || call.isOversized || call.program.home === undefined)
      return false;
    const bound = bindingOf(call, this);
    if (bound === undefined || (call.isStealable && !this.search.takes(bound, call, nowMs))) return false;
    if (call.reservedOn !== undefined) this.#release(call.reservedOn);
    this.queues.delete(call);
    call.boundTo = bound;
    for (const engine of this.queues.insert(call)) this.touch(engine);
    return true;
  }

  rest(engine: Engine): void {
    this.#settling.rest(engine);
    this.#release(engine);
  }

  /** Touches engines that time alone has opened: after a rest, or behind gates whose contexts have faded. */
  passTime(nowMs: number): void {
    const { engines } = this.engineTable;
    if (this.accounts.backgroundWaiting > 0)
      for (const engine of engines.values()) {
        if (engine.paced === undefined || nowMs < paceUntilMs(engine, this.rules)) continue;
        engine.paced = undefined;
        this.touch(engine);
      }
    for (const engine of this.#settling.pass(nowMs, this.rules.config, engines)) {
      this.touch(engine);
      this.retryOn(engine);
    }
  }

  nextChangeMs(nowMs: number): number {
    const holds = this.queues.size > 0 && gateHolds(this.engineTable.engines.values(), this.rules, nowMs);
    let at = this.#settling.nextMs(nowMs, this.rules.config.admission.halfLifeMs, holds);
    if (this.accounts.backgroundWaiting > 0)
      for (const engine of this.engineTable.engines.values())
        if (engine.paced !== undefined) at = Math.min(at, Math.max(nowMs, paceUntilMs(engine, this.rules)));
    return at;
  }

  /** Ends the engine's reservation: its call may find room elsewhere. */
  #release(engine: Engine): void {
    if (engine.reservedFor === undefined) return;
    engine.reservedFor.reservedOn = undefined;
    engine.reservedFor = undefined;
    this.touch(engine);
  }

  /** Makes the engine's pools those of `models`. Returns, placed anew, the calls that it displaces, and those that no engine is up for. */
  #serve(engine: Engine, models: readonly ModelId[]): Call[] {
    const homeless = [...engine.bound].filter((call) => !mayStay(call, engine, models));
    for (const call of homeless) this.withdraw(call);
    this.#release(engine);
    const left = this.engineTable.serve(engine, models);
    const pools = [...left, ...engine.pools];
    for (const other of this.queues.resize(engine, pools)) this.touch(other);
    const resized = resizedIn(pools, this.#isOversized);
    for (const call of resized) this.withdraw(call);
    for (const call of [...homeless, ...resized]) this.enqueue(call);
    this.touch(engine);
    const stranded = pools
      .filter(({ live }) => live.length === 0)
      .flatMap(({ unbound, paused }) => [...unbound, ...paused]);
    return [...new Set([...homeless, ...resized, ...stranded])];
  }
}
