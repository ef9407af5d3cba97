import type { Balancer } from './placement/balancer.js';
import { checkConfig, type SchedulerConfig } from './config.js';
import type { Engine } from './engines/engine.js';
import type { Command, Event } from './protocol/events.js';
import { counted, tellViolationsTo, type OnViolation } from './invariant.js';
import { Lifecycle, type Step } from './lifecycle.js';
import { handOver } from './placement/elsewhere.js';
import { Placement } from './placement/placement.js';
import { Accounting } from './programs/accounting.js';
import { makePolicy } from './policies/by-name.js';
import type { Policy } from './policies/policy.js';
import { Views } from './views/index.js';
import type { Millis } from './protocol/units.js';

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
  readonly #step: Step = { nowMs: -Infinity, out: [] };
  readonly #placement: Placement;
  readonly #accounting: Accounting;
  readonly #lifecycle: Lifecycle;
  #wakeAtMs = Infinity;
  /** Read-only pictures of the tables and queues. */
  readonly views = new Views(() => ({
    placement: this.#placement,
    table: this.#accounting.table,
    policy: this.#lifecycle.policy,
    balancer: this.#placement.rules.balancer.name,
    calls: this.#lifecycle.calls,
    ghosts: this.#lifecycle.ghosts.size,
    stepMs: this.#step.nowMs,
  }));
  /**
   * Numbers of calls since the start, for metrics: promoted for their chain's waiting; overdue after `waitMsMax`; run away
   * from their program's home; rejoined, that took over the place of an earlier request. Last, broken invariants.
   */
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
    const used = policy ?? makePolicy(config.policy);
    this.#accounting = new Accounting(config);
    this.#placement = new Placement({ config, balancer, policy: used }, this.#accounting.types.all.index);
    this.#lifecycle = new Lifecycle(this.#step, this.#placement, this.#accounting, this.totals, used);
  }

  /**
   * Applies an event that happened at `now` (milliseconds on the driver's clock) and returns the commands, in order.
   * A `now` before the last one counts as the last one.
   * @throws RangeError when `now` is not finite; Error when a `callArrived` repeats an active call's id.
   */
  step(event: Event, now: Millis): Command[] {
    if (event.type === 'callArrived' && this.#lifecycle.calls.has(event.call))
      throw new Error(`call ${event.call} is already active`);
    this.#begin(now);
    this.#lifecycle.escalate();
    this.#accounting.presumeEnded(this.#step.nowMs);
    this.#placement.passTime(this.#step.nowMs);
    this.#lifecycle.expire();
    if (event.type === 'woke') this.#wakeAtMs = Infinity;
    this.#apply(event);
    this.#lifecycle.place();
    if (event.type === 'callArrived') this.#lifecycle.turnAway(event.call);
    return this.#settle();
  }

  /**
   * Replaces settings and balancer. Waiting calls keep their order of arrival and are ranked and placed anew.
   * @throws RangeError when a setting is out of range or `now` is not finite; nothing has changed then.
   */
  configure(config: SchedulerConfig, balancer: Balancer, now: Millis): Command[] {
    checkConfig(config);
    this.#begin(now);
    const waiting = [...this.#lifecycle.calls.values()].filter((call) => call.state === 'waiting');
    for (const call of waiting) this.#placement.withdraw(call);
    this.#lifecycle.policy = this.policy ?? makePolicy(config.policy);
    this.#placement.rules = { config, balancer, policy: this.#lifecycle.policy };
    this.#accounting.configure(config);
    this.#placement.accounts.configure(config, this.#placement.engineTable.running());
    for (const engine of this.#placement.engineTable.engines.values()) engine.configure(config.admission);
    for (const call of waiting) this.#lifecycle.wait(call);
    this.#lifecycle.place();
    return this.#settle();
  }

  #begin(now: Millis): void {
    if (!Number.isFinite(now)) throw new RangeError(`now must be finite, got ${now}`);
    tellViolationsTo(this.#onViolation);
    this.#step.nowMs = Math.max(now, this.#step.nowMs);
    this.#step.out = [];
    this.#placement.accounts.at(this.#step.nowMs);
  }

  #apply(event: Event): void {
    switch (event.type) {
      case 'callArrived':
        return this.#lifecycle.arrive(event);
      case 'callStarted':
        return this.#lifecycle.started(event.call);
      case 'callProgressed':
        return this.#lifecycle.progressed(event);
      case 'callFinished':
        return this.#lifecycle.finished(event);
      case 'callFailed':
        return this.#lifecycle.failed(event);
      case 'callCancelled':
        return this.#lifecycle.cancelled(event);
      case 'programEnded':
        return this.#lifecycle.programEnded(event.program);
      case 'programMoved': {
        const row = this.#accounting.table.get(event.program);
        if (row === undefined) return;
        this.#accounting.moved(row);
        return handOver(row, this.#placement);
      }
      case 'engineJoined':
        return this.#lifecycle.displaced(this.#placement.join(event));
      case 'engineReported':
        return this.#withEngine(event.engine, (engine) => {
          engine.report(event);
          this.#placement.touch(engine);
        });
      case 'engineLost':
        return this.#left(event.engine, 'lost', event.silentMs);
      case 'engineDrained':
        return this.#left(event.engine, 'draining');
      case 'engineShared':
        this.#accounting.types.all.index.share(event.ended ?? 0);
        return this.#withEngine(event.engine, (engine) => this.#placement.share(engine, event, this.#step.nowMs));
      case 'woke':
        return;
      default:
        return event satisfies never;
    }
  }

  #withEngine(id: Engine['id'], then: (engine: Engine) => void): void {
    const engine = this.#placement.engineTable.engines.get(id);
    if (engine !== undefined) then(engine);
  }

  #left(id: Engine['id'], state: 'lost' | 'draining', silentMs?: number): void {
    const { nowMs } = this.#step;
    this.#withEngine(id, (engine) => this.#lifecycle.displaced(this.#placement.leave(engine, state, nowMs, silentMs)));
  }

  /** Ends a step in which no waiting call has room any more. */
  #settle(): Command[] {
    const at = Math.min(this.#lifecycle.nextChangeMs, this.#placement.nextChangeMs(this.#step.nowMs));
    if (at === this.#wakeAtMs || at === Infinity) return this.#step.out;
    this.#wakeAtMs = at;
    this.#step.out.push({ type: 'wakeAt', at: at as Millis });
    return this.#step.out;
  }
}
