import type { Call } from '../programs/call.js';
import { deadlinesOf } from '../programs/escalation.js';
import type { Refusal } from '../protocol/events.js';
import type { Placement } from './placement.js';

type Queue = Pick<Placement, 'queues' | 'accounts' | 'engineTable' | 'rules'>;

/** Safety factor: engines may become faster, and calls ahead may leave unserved. */
const MARGIN = 2;
const RETRY_MS_MIN = 1000;

/** Refuses a call that has just begun to wait if the queue is over a limit, or its wait is hopeless. */
export function turnedAway(
  call: Call,
  placement: Queue,
  nowMs: number,
): { readonly refusal: Refusal; readonly retryAfterMs: number | undefined } | undefined {
  const msPerCall = placement.engineTable.pool(call.model).drainRate.msPerCall(nowMs);
  const { queues, accounts, rules } = placement;
  const { queuedMax, queuedPerTenantMax } = rules.config.limits;
  const counted = call.isBackground ? queues.size : queues.size - accounts.backgroundWaiting;
  if (counted > queuedMax || queues.of(call.program.tenant) > queuedPerTenantMax)
    return { refusal: 'queue_full', retryAfterMs: msPerCall };
  const afterMs = msPerCall === undefined ? undefined : retryAfterMs(call, placement, msPerCall);
  return afterMs === undefined ? undefined : { refusal: 'overloaded', retryAfterMs: afterMs };
}

/**
 * Milliseconds after which the client should ask again, as the call would surely outwait its patience. Undefined: it may
 * wait. The wait is at least half of (calls ahead x the recent mean time between two completions under backlog). Once
 * promoted by its ratio, it passes those above level 0: they count only where `waitMsMax` comes before that.
 */
function retryAfterMs(call: Call, placement: Queue, msPerCall: number): number | undefined {
  // A retry keeps its place in the queue, and an over-long call waits for no other.
  if (call.isPatient || call.returns > 0 || call.isOversized) return undefined;
  const { config, balancer } = placement.rules;
  const { timeouts, limits } = config;
  // A call without a request identity cannot be recognised when it is repeated.
  const tries = call.request === undefined || timeouts.ghostMs === 0 ? 1 : 1 + limits.clientRetries;
  const { promoted, overdue } = deadlinesOf(call, config, balancer);
  const level = call.rank === 0 && promoted >= overdue ? call.level : 0;
  const overMs = (placement.queues.ahead(call, level) * msPerCall) / MARGIN - tries * timeouts.queueMs;
  return overMs > 0 ? Math.max(RETRY_MS_MIN, Math.ceil(overMs)) : undefined;
}
