import type { Engine } from './engines/engine.js';
import { adopt, takeBack } from './placement/elsewhere.js';
import { Escalator } from './placement/escalator.js';
import type { Placement } from './placement/placement.js';
import { accepted, proved, setBack } from './placement/retry.js';
import { turnedAway } from './placement/wait-estimate.js';
import type { Policy, Standing } from './policies/policy.js';
import { type Accounting, clampUsage, goneNotice } from './programs/accounting.js';
import { Call } from './programs/call.js';
import { Ghosts } from './programs/ghosts.js';
import type { Program } from './programs/process-table.js';
import type {
  CallArrived,
  CallCancelled,
  CallFailed,
  CallFinished,
  CallProgressed,
  Command,
  Refusal,
} from './protocol/events.js';
import type { CallId, Millis, ProgramId } from './protocol/units.js';

/** The step in progress: its time, and its commands so far. */
export interface Step {
  nowMs: number;
  out: Command[];
}

/** A call arrives, waits, runs, and ends once. A row leaves after its last call, if nothing more is expected of it. */
export class Lifecycle {
  readonly calls = new Map<CallId, Call>();
  readonly ghosts = new Ghosts();
  readonly #escalator: Escalator;
  #seq = 0;

  constructor(
    private readonly step: Step,
    private readonly placement: Placement,
    private readonly accounting: Accounting,
    private readonly totals: Record<'promotions' | 'overdue' | 'spilled' | 'rejoined', number>,
    public policy: Policy,
  ) {
    this.#escalator = new Escalator(placement, totals);
  }

  get nextChangeMs(): number {
    return Math.min(this.#escalator.nextAtMs, this.accounting.nextExpiryMs);
  }

  arrive(event: CallArrived): void {
    const { nowMs } = this.step;
    if (!this.placement.engineTable.serves(event.model, event.engine)) {
      this.step.out.push({ type: 'reject', call: event.call, refusal: 'no_engine' });
      return;
    }
    const { row, evicted, isBack } = this.accounting.admit(event, nowMs);
    this.#ended(evicted);
    if (event.elsewhere !== undefined) this.accounting.joinElsewhere(row, event.elsewhere);
    const { outputReserveTokens } = this.placement.rules.config.admission;
    const call = new Call(event, this.#seq++, row, outputReserveTokens, nowMs);
    const ghost = this.ghosts.take(row, event);
    if (ghost !== undefined) {
      this.totals.rejoined += 1;
      call.takeOver(ghost);
    }
    this.calls.set(call.id, call);
    this.accounting.begin(call, event);
    if (isBack) takeBack(call, this.placement);
    if (event.elsewhere !== undefined) adopt(call, event.elsewhere, this.placement);
    this.wait(call);
  }

  /** Ranks and queues the call: on arrival, after an engine failed it, or by other rules after a reload. */
  wait(call: Call): void {
    call.turn = this.placement.accounts.turnOf(call);
    // A background call weighs nothing against others, and its like run in order of arrival.
    call.restMs = call.isBackground ? Infinity : this.accounting.restMs(call);
    Object.assign(call, this.#standingOf(call));
    this.placement.enqueue(call);
    this.#escalator.watch(call);
  }

  #standingOf(call: Call): Standing {
    if (call.promoted) return { level: 0, rank: 0 };
    if (call.isBackground) return { level: this.policy.levels - 1, rank: 0 };
    return this.policy.stand(call, call.program, this.step.nowMs);
  }

  place(): void {
    const { nowMs } = this.step;
    for (let next = this.placement.next(nowMs); next !== undefined; next = this.placement.next(nowMs))
      this.#dispatch(next.call, next.engine);
  }

  #dispatch(call: Call, engine: Engine): void {
    const { balancer } = this.placement.rules;
    this.accounting.waited(call, this.step.nowMs);
    const binds = !call.isOversized && balancer.binds(call, engine);
    const { home } = call.program;
    const placement = !binds ? 'spread' : home === undefined ? 'bound' : home === engine ? 'home' : 'spilled';
    if (placement === 'spilled') this.totals.spilled += 1;
    this.placement.occupy(call, engine, this.step.nowMs);
    if (binds) call.program.bind(engine);
    if (!call.isOversized) balancer.dispatched?.(call, engine);
    call.sent(this.step.nowMs);
    engine.rests.dispatched(call, this.step.nowMs);
    this.#escalator.forget(call);
    this.step.out.push(call.dispatchedTo(engine, placement));
  }

  started(id: CallId): void {
    this.#withRunning(id, (call, engine, nowMs) => {
      engine.started(call, nowMs);
      accepted(call, engine, this.placement, nowMs);
    });
  }

  progressed({ call: id, outputTokens }: CallProgressed): void {
    this.#withRunning(id, (call) => call.progressed(outputTokens));
  }

  finished(told: CallFinished): void {
    this.#withRunning(told.call, (call, engine, nowMs) => {
      const event = clampUsage(told);
      const warm = call.program.lastEngine === engine;
      engine.finished(call, event, nowMs);
      accepted(call, engine, this.placement, nowMs);
      const left = this.accounting.finished(call, engine, event, nowMs);
      // Nothing is held for its return.
      this.placement.vacate(call, engine, call.isBackground ? 'nothing' : left, nowMs);
      if (event.usage !== undefined) this.placement.rules.balancer.finished?.(call, event.usage, warm);
      this.placement.completed(call, engine, nowMs);
      this.#end(call);
    });
  }

  failed(event: CallFailed): void {
    this.#withRunning(event.call, (call, engine, nowMs) => {
      if (event.failure === 'lost') return this.#abandon(call, engine);
      this.placement.vacate(call, engine, 'nothing', nowMs);
      if (event.failure === 'refused') {
        proved(engine, this.placement);
        return this.#end(call);
      }
      const refusal = setBack(call, engine, event, this.placement, nowMs);
      if (refusal !== undefined) return this.#reject(call, refusal);
      if (!this.placement.engineTable.serves(call.model, call.onlyOn)) return this.#reject(call, 'no_engine');
      call.sentBack(nowMs);
      this.wait(call);
    });
  }

  cancelled({ call: id, mayReturn }: CallCancelled): void {
    const call = this.calls.get(id);
    if (call === undefined) return;
    if (call.engine !== undefined) return this.#abandon(call, call.engine);
    this.#leaveQueue(call);
    this.#end(call);
    if (mayReturn === true) this.#keepPlace(call);
  }

  /** A running call ends without an answer and is charged for its use. */
  #abandon(call: Call, engine: Engine): void {
    const { nowMs } = this.step;
    this.accounting.abandoned(call, engine, nowMs);
    this.placement.vacate(call, engine, 'unknown', nowMs);
    this.placement.completed(call, engine, nowMs);
    this.#end(call);
  }

  #reject(call: Call, refusal: Refusal, afterMs?: number): void {
    if (call.state === 'waiting') this.#leaveQueue(call);
    const retry = afterMs === undefined ? undefined : { retryAfterMs: afterMs as Millis };
    this.step.out.push({ type: 'reject', call: call.id, refusal, ...retry });
    this.#end(call);
    // A retry that finds the queue full keeps the place that it took over.
    if (refusal === 'queue_timeout' || refusal === 'no_engine' || (refusal === 'queue_full' && call.returns > 0))
      this.#keepPlace(call);
  }

  #keepPlace(call: Call): void {
    this.ghosts.keep(call, this.placement.rules.config, this.step.nowMs);
  }

  #leaveQueue(call: Call): void {
    this.accounting.waited(call, this.step.nowMs);
    this.placement.withdraw(call);
  }

  #end(call: Call): void {
    this.#escalator.forget(call);
    this.calls.delete(call.id);
    this.#ended(this.accounting.callEnded(call, this.step.nowMs));
  }

  programEnded(id: ProgramId): void {
    const row = this.accounting.table.get(id);
    if (row === undefined) return;
    this.ghosts.forget(row);
    this.#ended(this.accounting.remove(row, 'ended'));
  }

  #ended(row: Program | undefined): void {
    if (row === undefined) return;
    this.accounting.ends.ended(row);
    this.ghosts.forget(row);
    this.placement.forget(row);
    this.step.out.push(goneNotice(row));
  }

  /** Handles waiting calls that an engine's coming or going concerns: no engine may serve them any more, or none is up. */
  displaced(calls: readonly Call[]): void {
    for (const call of calls) {
      if (this.placement.engineTable.serves(call.model, call.onlyOn)) this.#escalator.watch(call);
      else this.#reject(call, 'no_engine');
    }
  }

  /** Refuses a new call that was not dispatched at once, when the queue is over a limit or its wait is hopeless. */
  turnAway(id: CallId): void {
    const call = this.calls.get(id);
    if (call?.state !== 'waiting') return;
    const turned = turnedAway(call, this.placement, this.step.nowMs);
    if (turned === undefined) return;
    this.#reject(call, turned.refusal, turned.retryAfterMs);
    // The room claimed until now for its own context may admit another call.
    this.place();
  }

  /** Time has passed: calls that wait are escalated or refused, and kept places are forgotten. */
  escalate(): void {
    const { nowMs } = this.step;
    for (let next = this.#escalator.refused(nowMs); next !== undefined; next = this.#escalator.refused(nowMs))
      this.#reject(next.call, next.refusal);
    this.ghosts.expire(nowMs);
  }

  /** Time has passed: rows whose leases are over leave the table. */
  expire(): void {
    const { nowMs } = this.step;
    for (let row = this.accounting.expire(nowMs); row !== undefined; row = this.accounting.expire(nowMs))
      this.#ended(row);
  }

  #withRunning(id: CallId, then: (call: Call, engine: Engine, nowMs: number) => void): void {
    const call = this.calls.get(id);
    if (call?.engine !== undefined) then(call, call.engine, this.step.nowMs);
  }
}
