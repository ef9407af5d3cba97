import type { Call } from '../programs/call.js';
import { deadlinesOf } from '../programs/escalation.js';
import type { Refusal } from '../protocol/events.js';
import type { Placement } from './placement.js';

/** What engines may come to be faster than they lately were, and calls ahead leave unserved. */
const MARGIN = 2;
const RETRY_MS_MIN = 1000;

/** Why a call that has just begun to wait is refused, and when to ask again, where that is known. */
export interface TurnedAway {
  readonly refusal: Refusal;
  readonly retryAfterMs: number | undefined;
}

/** Refuses a call that has just begun to wait where a limit of the queue is passed, or its wait is hopeless. */
export function turnedAway(call: Call, placement: Placement, nowMs: number): TurnedAway | undefined {
  if (placement.overflows(call.program.tenant))
    return { refusal: 'queue_full', retryAfterMs: placement.msPerCall(call, nowMs) };
  const afterMs = retryAfterMs(call, placement, nowMs);
  return afterMs === undefined ? undefined : { refusal: 'overloaded', retryAfterMs: afterMs };
}

/**
 * When the client of a call that has just begun to wait should ask again, because its wait is sure to outlast all that its
 * client will wait; undefined where it may wait.
 *
 * The wait is at least the calls ahead by the rate at which calls lately left the engines while others waited, halved. All
 * calls up to its level came before it. It passes those above level 0 once it is promoted by its ratio, so they count
 * only for a call that is not promoted before `waitMsMax`, when they are all at the front as well.
 */
function retryAfterMs(call: Call, placement: Placement, nowMs: number): number | undefined {
  // What comes back has a place among those that wait.
  if (call.isPatient || call.returns > 0) return undefined;
  const msPerCall = placement.msPerCall(call, nowMs);
  if (msPerCall === undefined) return undefined;
  const { config, balancer } = placement.rules;
  const { timeouts, limits } = config;
  // Who names no request cannot be known again.
  const tries = call.request === undefined || timeouts.ghostMs === 0 ? 1 : 1 + limits.clientRetries;
  const { promoteAtMs, overdueAtMs } = deadlinesOf(call, config, balancer);
  const level = call.rank === 0 && promoteAtMs >= overdueAtMs ? call.level : 0;
  const overMs = (placement.ahead(call, level) * msPerCall) / MARGIN - tries * timeouts.queueMs;
  return overMs > 0 ? Math.max(RETRY_MS_MIN, Math.ceil(overMs)) : undefined;
}
