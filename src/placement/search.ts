import type { Call } from '../programs/call.js';
import type { Engine } from '../engines/engine.js';
import type { EngineTable } from '../engines/engine-table.js';
import type { WaitingCalls } from '../queues/waiting-calls.js';
import { heldOf, holds } from './eligible.js';
import { findsRoom } from './background.js';
import { closedBy, fitsInto, goesFirst, headroomOf, isOutranked } from './obstacle.js';
import { pays, type Scales } from './knee.js';
import { nextOversized, type Match } from './oversized.js';
import { agesEarly, reservationOf } from './reservation.js';

/**
 * The search for the waiting call that runs next. Only engines touched by an event are looked at, each in O(pools x log
 * n) and a comparison for each call that its family's prefix keeps out. Calls that wait for a full engine cost nothing.
 */
export class Search {
  /** An array, not a Set, as it is emptied in every step. */
  readonly #touched: Engine[] = [];

  constructor(
    private readonly scales: Scales,
    private readonly engineTable: EngineTable,
    private readonly queues: WaitingCalls,
    private readonly replace: (call: Call) => void,
  ) {}

  touch(engine: Engine): void {
    if (this.queues.size === 0 || engine.touched) return;
    engine.touched = true;
    this.#touched.push(engine);
  }

  /** An over-long call that an engine may be sent; else the first call, in order, that has room on some engine. */
  first(nowMs: number): Match | undefined {
    const oversized = nextOversized(this.#touched, this.scales.accounts, nowMs);
    if (oversized !== undefined) return oversized;
    let first: Match | undefined;
    let kept = 0;
    for (const engine of this.#touched) {
      const call = this.#pick(engine, nowMs);
      engine.touched = call !== undefined;
      if (call === undefined) continue;
      this.#touched[kept++] = engine;
      if (first === undefined || this.scales.accounts.before(call, first.call)) first = { call, engine };
    }
    while (this.#touched.length > kept) this.#touched.pop();
    return first;
  }

  /** Whether the engine would now run this unbound call. */
  takes(engine: Engine, call: Call, nowMs: number): boolean {
    const { accounts, rules } = this.scales;
    if (!this.#hasSlot(engine, nowMs) || holds(engine, call)) return false;
    if (goesFirst(engine.reservedFor, call, accounts)) return false;
    return fitsInto(engine, headroomOf(engine, rules, nowMs))(call) && this.#joins(call, engine, nowMs);
  }

  age(call: Call): void {
    this.queues.delete(call);
    call.isAged = true;
    for (const engine of this.queues.insert(call)) this.touch(engine);
  }

  /** The first call, in order, that has room there. Stealable calls come only after its own and its pools' calls. */
  #pick(engine: Engine, nowMs: number): Call | undefined {
    if (!this.#hasSlot(engine, nowMs)) return undefined;
    const { accounts, rules } = this.scales;
    const room = headroomOf(engine, rules, nowMs);
    const fits = fitsInto(engine, room);
    let [fit, head] = this.queues.heads(engine, room, fits);
    // Each call that the engine holds leaves the queue once for each rest.
    for (let held = heldOf(engine, fit, head); held !== undefined; held = heldOf(engine, fit, head)) {
      this.replace(held);
      [fit, head] = this.queues.heads(engine, room, fits);
    }
    const early = agesEarly(engine, fit, accounts, rules.config.admission.reserveMs, nowMs);
    if (early !== undefined) return (this.age(early), this.#pick(engine, nowMs));
    const reserved = head === fit ? engine.reservedFor : reservationOf(engine, head, this.engineTable, rules, nowMs);
    if (goesFirst(reserved, fit, accounts)) return undefined;
    if (fit === undefined || fit.isBackground)
      for (const { stealable } of engine.pools)
        fit = accounts.firstOf(fit, stealable.firstFit(room.new, accounts, fits));
    return fit !== undefined && !holds(engine, fit) && this.#joins(fit, engine, nowMs) ? fit : undefined;
  }

  #joins(call: Call, engine: Engine, nowMs: number): boolean {
    if (call.isBackground) return findsRoom(call, engine, this.scales.rules, this.scales.accounts, nowMs);
    return !isOutranked(call, engine, this.scales.accounts) && pays(call, engine, this.scales, nowMs);
  }

  #hasSlot(engine: Engine, nowMs: number): boolean {
    return closedBy(engine, this.scales.rules.policy.admits, nowMs) === undefined;
  }
}
