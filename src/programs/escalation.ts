import type { Call } from './call.js';
import type { SchedulerConfig } from '../config.js';
import type { Balancer } from '../placement/balancer.js';

/**
 * The states that a call reaches by waiting alone, strongest first. When two are due at once, the first in this list is
 * reached first. A call has one timer, set to its next deadline (`earliest`), so nothing is scanned.
 *
 *     state       after a wait of                effect                                              kept as
 *     timedOut    timeouts.queueMs               it is refused                                       (it is gone)
 *     stranded    timeouts.noEngineMs, while no  it is refused                                       (it is gone)
 *                 engine that serves it is up
 *     retriable   the pause after a failure      engines that failed it may run it again             retryAtMs
 *     overdue     starvation.waitMsMax, or its   promoted and aged; unbound if its engine stands     overdue
 *                 class's objective
 *     promoted    beta x attained service,       to the front; its program's window starts anew      promoted
 *                 along its chain
 *     aged        admission.reserveMs            idle contexts make way for it, and nothing behind   isAged
 *                                                it takes its room
 *     stealable   balancer.spillMs               engines with nothing of their own may take it       isStealable
 *
 * The settings decide which comes first, and a promoted call goes on to age. All last until the call ends, through failed
 * attempts too. It is stealable only from the engine it waits for.
 */
const ESCALATIONS = ['timedOut', 'stranded', 'retriable', 'overdue', 'promoted', 'aged', 'stealable'] as const;
type Escalation = (typeof ESCALATIONS)[number];

/** When a waiting call reaches each state; Infinity: it has, or never does. */
export type Deadlines = Readonly<Record<Escalation, number>>;

type Spills = Pick<Balancer, 'spills'>;

/** @param strandedAtMs since when no engine that may run it has been up; Infinity: one is */
export function deadlinesOf(call: Call, config: SchedulerConfig, balances: Spills, strandedAtMs = Infinity): Deadlines {
  const { admission, starvation, timeouts, balancer } = config;
  const limitMs = starvation.beta * Math.max(call.serviceAtArrivalMs, call.expectedTotalMs, starvation.floorMs);
  // A large program declared as such does not starve where it waits as long as its size.
  const ownMs = Math.min(starvation.beta * call.expectedTotalMs, timeouts.queueMs - admission.turnMs);
  const overdueMs = Math.min(call.waitMsMax, Math.max(starvation.waitMsMax, ownMs));
  const waitStartMs = call.queuedAtMs - call.waitedMs;
  // A call that fits no engine must not come back for ever, each time making an engine rest while others wait for it.
  const patienceStartMs = call.isPatient ? call.sentBackAtMs : waitStartMs + call.inheritedWaitMs;
  return {
    timedOut: patienceStartMs + timeouts.queueMs,
    stranded: strandedAtMs + timeouts.noEngineMs,
    retriable: call.isPaused && call.retryAtMs !== -Infinity ? call.retryAtMs : Infinity,
    overdue: call.overdue || call.isBackground ? Infinity : waitStartMs + overdueMs,
    // (W_P + W_c) / max(T_P + T_c, floor) reaches beta (Autellix, "Anti-Starvation").
    promoted:
      call.promoted || call.level === 0 || call.isBackground ? Infinity : waitStartMs + limitMs - call.carriedWaitMs,
    aged: call.isAged || call.isBackground ? Infinity : waitStartMs + admission.reserveMs,
    stealable:
      !maySpill(call, balances) || call.isUnbound || call.isStealable ? Infinity : waitStartMs + balancer.spillMs,
  };
}

/** Whether the call may leave its engine after waiting. One that engines have failed is bound to those that may retry it. */
export const maySpill = (call: Call, { spills }: Spills): boolean =>
  spills && call.onlyOn === undefined && call.failedOn.length === 0;

/** The first state, in the order above, that is due. */
export const reachedBy = (due: Deadlines, nowMs: number): Escalation | undefined =>
  ESCALATIONS.find((state) => due[state] <= nowMs);

export const earliest = (due: Deadlines): number => Math.min(...Object.values(due));
