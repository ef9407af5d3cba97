import type { Balancer } from './placement/balancer.js';
import { Call } from './programs/call.js';
import { checkConfig, type SchedulerConfig } from './config.js';
import type { Engine } from './engines/engine.js';
import type { CallArrived, CallCancelled, CallFailed, CallFinished, Command, Dispatch, Event, Refusal } from './protocol/events.js'; // prettier-ignore
import { counted, tellViolationsTo, type OnViolation } from './invariant.js';
import { adopt, handOver } from './placement/elsewhere.js';
import { passesMany } from './placement/oversized.js';
import { Placement } from './placement/placement.js';
import { Escalator } from './placement/escalator.js';
import { proved, setBack } from './placement/retry.js';
import { turnedAway } from './placement/wait-estimate.js';
import { goneNotice, Accounting, clampUsage } from './programs/accounting.js';
import { Ghosts } from './programs/ghosts.js';
import { makePolicy } from './policies/by-name.js';
import type { Policy } from './policies/policy.js';
import type { Program } from './programs/process-table.js';
import { Views } from './views.js';
import type { CallId, Millis } from './protocol/units.js';

/**
 * The scheduler: `step(event, now) -> commands`. It owns the process table, the queues and the engine table. Its state
 * is a function of the events so far: no clock, no I/O, no randomness.
 *
 *     step:  1. time               due timers: escalations, timeouts, leases; engines that have rested, claims that fade
 *            2. the event          the one thing that happened
 *            3. placement          calls that now have room are dispatched, in order
 *            4. the next wake      the time of the next change that needs no event
 *
 * A call is owned from `callArrived` until it finishes, fails for good, is cancelled or is rejected; each ends once.
 * Events about unknown calls and engines, or those that have ended, change nothing.
 */
export class Scheduler {
  readonly #placement: Placement;
  readonly #accounting: Accounting;
  #policy: Policy;
  readonly #calls = new Map<CallId, Call>();
  readonly #escalator: Escalator;
  readonly #ghosts = new Ghosts();
  #seq = 0;
  #nowMs = -Infinity;
  #wakeAtMs = Infinity;
  #out: Command[] = [];
  /** Read-only pictures of the tables and queues. */
  readonly views = new Views(() => ({
    placement: this.#placement,
    table: this.#accounting.table,
    policy: this.#policy,
    balancer: this.#placement.rules.balancer.name,
    calls: this.#calls,
    ghosts: this.#ghosts.size,
    nowMs: this.#nowMs,
  }));
  /** Running totals, for metrics. */
  readonly totals = { promotions: 0, overdue: 0, spilled: 0, rejoined: 0, violations: 0 };
  readonly #onViolation: OnViolation | undefined;

  /**
   * @param policy replaces the configured one for the scheduler's lifetime
   * @param onViolation receives broken invariants, which are faults of the core; absent: they throw
   * @throws RangeError when a setting is out of range.
   */
  constructor(
    config: SchedulerConfig,
    balancer: Balancer,
    private readonly policy?: Policy,
    onViolation?: OnViolation,
  ) {
    checkConfig(config);
    this.#onViolation = onViolation && counted(this.totals, onViolation);
    this.#policy = policy ?? makePolicy(config.policy);
    this.#accounting = new Accounting(config);
    this.#placement = new Placement({ config, balancer, policy: this.#policy }, this.#accounting.completionIndex);
    this.#escalator = new Escalator(this.#placement, this.totals);
  }

  /**
   * Applies an event that happened at `now` (milliseconds on the driver's clock) and returns the commands, in order.
   * A `now` before the last one counts as the last one.
   * @throws RangeError when `now` is not finite; Error when a `callArrived` repeats an active call's id.
   */
  step(event: Event, now: Millis): Command[] {
    if (event.type === 'callArrived' && this.#calls.has(event.call))
      throw new Error(`call ${event.call} is already active`);
    this.#begin(now);
    this.#passTime();
    if (event.type === 'woke') this.#wakeAtMs = Infinity;
    this.#apply(event);
    this.#place();
    if (event.type === 'callArrived') this.#turnAway(event.call);
    this.#planWake();
    return this.#out;
  }

  /**
   * Replaces settings and balancer. Waiting calls keep their order of arrival and are ranked and placed anew.
   * @throws RangeError when a setting is out of range or `now` is not finite; nothing has changed then.
   */
  configure(config: SchedulerConfig, balancer: Balancer, now: Millis): Command[] {
    checkConfig(config);
    this.#begin(now);
    const waiting = [...this.#calls.values()].filter((call) => call.state === 'waiting').sort((a, b) => a.seq - b.seq);
    for (const call of waiting) this.#placement.withdraw(call);
    this.#policy = this.policy ?? makePolicy(config.policy);
    this.#placement.rules = { config, balancer, policy: this.#policy };
    this.#accounting.configure(config);
    this.#placement.accounts.configure(config, this.#placement.engineTable.running());
    for (const engine of this.#placement.engineTable.engines.values()) engine.configure(config.admission);
    for (const call of waiting) this.#wait(call);
    this.#place();
    this.#planWake();
    return this.#out;
  }

  #begin(now: Millis): void {
    if (!Number.isFinite(now)) throw new RangeError(`now must be finite, got ${now}`);
    tellViolationsTo(this.#onViolation);
    this.#nowMs = Math.max(now, this.#nowMs);
    this.#placement.accounts.at(this.#nowMs);
    this.#out = [];
  }

  #apply(event: Event): void {
    switch (event.type) {
      case 'callArrived':
        return this.#arrive(event);
      case 'callStarted':
        return this.#withRunning(event.call, (call, engine) => {
          engine.started(call, this.#nowMs);
          proved(engine, this.#placement);
        });
      case 'callProgressed':
        return this.#withRunning(event.call, (call) => call.progressed(event.outputTokens));
      case 'callFinished':
        return this.#withRunning(event.call, (call, engine) => this.#finish(call, engine, clampUsage(event)));
      case 'callFailed':
        return this.#withRunning(event.call, (call, engine) => this.#fail(call, engine, event));
      case 'callCancelled':
        return this.#cancel(event);
      case 'programEnded': {
        const row = this.#accounting.table.get(event.program);
        if (row === undefined) return;
        this.#ghosts.forget(row);
        return this.#gone(this.#accounting.detach(row, 'ended'));
      }
      case 'programHinted':
      case 'toolStarted':
      case 'toolFinished':
        return this.#accounting.told(event, this.#nowMs);
      case 'programMoved': {
        const row = this.#accounting.table.get(event.program);
        if (row !== undefined) handOver(row, this.#placement);
        return;
      }
      case 'engineJoined':
        return this.#displaced(this.#placement.join(event));
      case 'engineReported':
        return this.#withEngine(event.engine, (engine) => {
          engine.report(event);
          this.#placement.touch(engine);
        });
      case 'engineLost':
        return this.#left(event.engine, 'lost');
      case 'engineDrained':
        return this.#left(event.engine, 'draining');
      case 'engineShared':
        return this.#withEngine(event.engine, (engine) => this.#placement.share(engine, event, this.#nowMs));
      case 'woke':
        return;
      default:
        return event satisfies never;
    }
  }

  #withRunning(id: CallId, then: (call: Call, engine: Engine) => void): void {
    const call = this.#calls.get(id);
    if (call?.engine !== undefined) then(call, call.engine);
  }

  #withEngine(id: Engine['id'], then: (engine: Engine) => void): void {
    const engine = this.#placement.engineTable.engines.get(id);
    if (engine !== undefined) then(engine);
  }

  #left(id: Engine['id'], state: 'lost' | 'draining'): void {
    this.#withEngine(id, (engine) => this.#displaced(this.#placement.leave(engine, state, this.#nowMs)));
  }

  #arrive(event: CallArrived): void {
    if (!this.#placement.serves(event.model, event.engine)) {
      this.#out.push({ type: 'reject', call: event.call, refusal: 'no_engine' });
      return;
    }
    const { row, evicted } = this.#accounting.admit(event.program, event.tenant, this.#nowMs);
    this.#gone(evicted);
    if (event.elsewhere !== undefined) this.#accounting.joinElsewhere(row, event.elsewhere);
    const { outputReserveTokens } = this.#placement.rules.config.admission;
    const call = new Call(event, this.#seq++, row, outputReserveTokens, this.#nowMs);
    const ghost = this.#ghosts.take(row, event);
    if (ghost !== undefined) {
      this.totals.rejoined += 1;
      call.takeOver(ghost);
    }
    this.#calls.set(call.id, call);
    this.#accounting.begin(call, event);
    if (event.elsewhere !== undefined) adopt(call, event.elsewhere, this.#placement);
    this.#wait(call);
  }

  /** Ranks and queues the call: on arrival, or again after an engine failed it. */
  #wait(call: Call): void {
    call.turn = this.#placement.accounts.turnOf(call);
    Object.assign(call, call.promoted ? { level: 0, rank: 0 } : this.#policy.stand(call, call.program, this.#nowMs));
    const refuser = this.#placement.refuserOf(call, this.#nowMs);
    if (refuser === undefined || passesMany(refuser)) {
      this.#placement.enqueue(call);
      this.#escalator.watch(call);
      return;
    }
    this.#placement.passTo(call, refuser);
    this.#send(call, refuser, 'spread');
  }

  /** Dispatches every call that has room. */
  #place(): void {
    for (let next = this.#placement.next(this.#nowMs); next !== undefined; next = this.#placement.next(this.#nowMs))
      this.#dispatch(next.call, next.engine);
  }

  #dispatch(call: Call, engine: Engine): void {
    const { balancer } = this.#placement.rules;
    this.#accounting.waited(call, this.#nowMs);
    const binds = balancer.binds(call, engine);
    const { home } = call.program;
    const placement = !binds ? 'spread' : home === undefined ? 'bound' : home === engine ? 'home' : 'spilled';
    if (placement === 'spilled') this.totals.spilled += 1;
    this.#placement.occupy(call, engine, this.#nowMs);
    if (binds) call.program.bind(engine);
    balancer.dispatched?.(call, engine);
    this.#send(call, engine, placement);
  }

  #send(call: Call, engine: Engine, placement: Dispatch['placement']): void {
    call.sent(this.#nowMs);
    this.#escalator.forget(call);
    this.#out.push(call.dispatchedTo(engine, placement));
  }

  #finish(call: Call, engine: Engine, event: CallFinished): void {
    const warm = call.program.lastEngine === engine;
    engine.finished(call, event, this.#nowMs);
    proved(engine, this.#placement);
    const left = this.#accounting.finished(call, engine, event, this.#nowMs);
    this.#placement.vacate(call, engine, left, this.#nowMs);
    const { promptTokens, outputTokens } = event.usage ?? call;
    this.#policy.charge?.(call.program, promptTokens, outputTokens, this.#nowMs);
    if (event.usage !== undefined) this.#placement.rules.balancer.finished?.(call, event.usage, warm);
    this.#placement.completed(call, engine, this.#nowMs);
    this.#end(call);
  }

  #fail(call: Call, engine: Engine, event: CallFailed): void {
    if (event.failure === 'lost') return this.#abandon(call, engine);
    this.#placement.vacate(call, engine, 'nothing', this.#nowMs);
    if (event.failure === 'refused') {
      proved(engine, this.#placement);
      return this.#end(call);
    }
    const refusal = setBack(call, engine, event, this.#placement, this.#nowMs);
    if (refusal !== undefined) return this.#reject(call, refusal);
    if (!this.#placement.serves(call.model, call.onlyOn)) return this.#reject(call, 'no_engine');
    call.sentBack(this.#nowMs);
    this.#wait(call);
  }

  #cancel({ call: id, mayReturn }: CallCancelled): void {
    const call = this.#calls.get(id);
    if (call === undefined) return;
    if (call.engine !== undefined) return this.#abandon(call, call.engine);
    this.#leaveQueue(call);
    this.#end(call);
    if (mayReturn === true) this.#ghosts.keep(call, this.#placement.rules.config, this.#nowMs);
  }

  #leaveQueue(call: Call): void {
    this.#accounting.waited(call, this.#nowMs);
    this.#placement.withdraw(call);
  }

  /** A running call ends without an answer and is charged for its use. */
  #abandon(call: Call, engine: Engine): void {
    this.#accounting.abandoned(call, this.#nowMs);
    this.#policy.charge?.(call.program, call.promptTokens, call.outputTokens, this.#nowMs);
    this.#placement.vacate(call, engine, 'unknown', this.#nowMs);
    this.#placement.completed(call, engine, this.#nowMs);
    this.#end(call);
  }

  #reject(call: Call, refusal: Refusal, afterMs?: number): void {
    if (call.state === 'waiting') this.#leaveQueue(call);
    const retry = afterMs === undefined ? undefined : { retryAfterMs: afterMs as Millis };
    this.#out.push({ type: 'reject', call: call.id, refusal, ...retry });
    this.#end(call);
    // A retry that finds the queue full keeps the place that it took over.
    if (refusal === 'queue_timeout' || refusal === 'no_engine' || (refusal === 'queue_full' && call.returns > 0))
      this.#ghosts.keep(call, this.#placement.rules.config, this.#nowMs);
  }

  #end(call: Call): void {
    this.#escalator.forget(call);
    this.#calls.delete(call.id);
    this.#gone(this.#accounting.ended(call, this.#nowMs));
  }

  #gone(row: Program | undefined): void {
    if (row === undefined) return;
    this.#ghosts.forget(row);
    this.#placement.forget(row);
    this.#out.push(goneNotice(row));
  }

  /** Handles waiting calls that an engine's coming or going concerns: no engine may serve them any more, or none is up. */
  #displaced(calls: readonly Call[]): void {
    for (const call of calls) {
      if (this.#placement.serves(call.model, call.onlyOn)) this.#escalator.watch(call);
      else this.#reject(call, 'no_engine');
    }
  }

  /** Refuses a new call that was not dispatched at once, when the queue is over a limit or its wait is hopeless. */
  #turnAway(id: CallId): void {
    const call = this.#calls.get(id);
    if (call?.state !== 'waiting') return;
    const turned = turnedAway(call, this.#placement, this.#nowMs);
    if (turned === undefined) return;
    this.#reject(call, turned.refusal, turned.retryAfterMs);
    // The room claimed until now for its own context may admit another call.
    this.#place();
  }

  #passTime(): void {
    const now = this.#nowMs;
    for (let next = this.#escalator.refused(now); next !== undefined; next = this.#escalator.refused(now))
      this.#reject(next.call, next.refusal);
    this.#ghosts.expire(now);
    this.#placement.accounts.reweigh(this.#calls.values(), this.#accounting.urgencyOf);
    this.#accounting.countOut(now);
    this.#placement.passTime(now);
    for (let row = this.#accounting.expire(now); row !== undefined; row = this.#accounting.expire(now)) this.#gone(row);
  }

  #planWake(): void {
    const { nextAtMs } = this.#escalator;
    const at = Math.min(nextAtMs, this.#placement.nextChangeMs(this.#nowMs), this.#accounting.nextExpiryMs);
    if (at === this.#wakeAtMs || at === Infinity) return;
    this.#wakeAtMs = at;
    this.#out.push({ type: 'wakeAt', at: at as Millis });
  }
}
