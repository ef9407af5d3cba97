import type { SchedulerConfig } from '../config.js';
import type { Call } from '../programs/call.js';
import { deadlinesOf } from '../programs/escalation.js';
import type { Placement } from './placement.js';

/** What engines may come to be faster than they lately were, and calls ahead leave unserved. */
const MARGIN = 2;
const RETRY_MS_MIN = 1000;

/**
 * When the client of a call that has just begun to wait should ask again, because its wait is sure to outlast all that its
 * client will wait; undefined where it may wait.
 *
 * The wait is at least the calls ahead by the rate at which calls lately left the engines while others waited, halved. All
 * calls up to its level came before it. It passes those above level 0 once it is promoted by its ratio, so they count
 * only for a call that is not promoted before `waitMsMax`, when they are all at the front as well.
 */
export function retryAfterMs(
  call: Call,
  config: SchedulerConfig,
  placement: Placement,
  nowMs: number,
): number | undefined {
  // What comes back has a place among those that wait.
  if (call.isPatient || call.returns > 0) return undefined;
  const msPerCall = placement.msPerCall(call, nowMs);
  if (msPerCall === undefined) return undefined;
  const { timeouts, limits } = config;
  // Who names no request cannot be known again.
  const tries = call.request === undefined || timeouts.ghostMs === 0 ? 1 : 1 + limits.clientRetries;
  const { promoteAtMs, overdueAtMs } = deadlinesOf(call, config, placement.rules.balancer);
  const level = call.rank === 0 && promoteAtMs >= overdueAtMs ? call.level : 0;
  const overMs = (placement.ahead(call, level) * msPerCall) / MARGIN - tries * timeouts.queueMs;
  return overMs > 0 ? Math.max(RETRY_MS_MIN, Math.ceil(overMs)) : undefined;
}
