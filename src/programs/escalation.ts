import type { Call } from './call.js';
import type { SchedulerConfig } from '../config.js';
import type { Balancer } from '../placement/balancer.js';

/**
 * When waiting alone changes something for a call. Each time is known as soon as it starts to wait, so that one timer
 * a call is enough and nothing is ever scanned.
 */
export interface Deadlines {
  /** It is refused. */
  readonly timeoutAtMs: number;
  /** `waitMsMax` is over: to the front, and free to run anywhere. */
  readonly overdueAtMs: number;
  /** (W_P + W_c) / max(T_P + T_c, floor) reaches beta (Autellix, "Anti-Starvation"): to the front. */
  readonly promoteAtMs: number;
  /** Idle programs' caches must make way for it. */
  readonly ageAtMs: number;
  /** It may leave the engine that it is bound to. */
  readonly stealableAtMs: number;
}

type Spills = Pick<Balancer, 'spills'>;

/** Deadlines of a waiting call; Infinity for what is past or does not apply. */
export function deadlinesOf(call: Call, config: SchedulerConfig, balances: Spills): Deadlines {
  const { admission, starvation, timeouts, balancer } = config;
  const limitMs = starvation.beta * Math.max(call.serviceAtArrivalMs, starvation.floorMs);
  const waitStartMs = call.queuedAtMs - call.waitedMs;
  // What no engine has room for must not come back for ever: each time the engine rests, and others wait for it.
  const patienceStartMs = call.isPatient ? call.sentBackAtMs : waitStartMs + call.inheritedWaitMs;
  return {
    timeoutAtMs: patienceStartMs + timeouts.queueMs,
    overdueAtMs: call.overdue ? Infinity : waitStartMs + starvation.waitMsMax,
    promoteAtMs: call.promoted || call.level === 0 ? Infinity : waitStartMs + limitMs - call.waitAtArrivalMs,
    ageAtMs: call.isAged ? Infinity : waitStartMs + admission.reserveMs,
    stealableAtMs:
      !maySpill(call, balances) || call.isUnbound || call.isStealable ? Infinity : waitStartMs + balancer.spillMs,
  };
}

/** Whether the call may leave its engine by waiting. */
export const maySpill = (call: Call, { spills }: Spills): boolean => spills && call.onlyOn === undefined;

export function earliest(deadlines: Deadlines): number {
  const { timeoutAtMs, overdueAtMs, promoteAtMs, ageAtMs, stealableAtMs } = deadlines;
  return Math.min(timeoutAtMs, overdueAtMs, promoteAtMs, ageAtMs, stealableAtMs);
}
