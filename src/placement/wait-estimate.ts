import type { Call } from '../programs/call.js';
import { deadlinesOf } from '../programs/escalation.js';
import type { Refusal } from '../protocol/events.js';
import type { Placement } from './placement.js';

/** The parts of placement that tell how long a wait will be. */
type Queue = Pick<Placement, 'waiting' | 'waitingOf' | 'accounts' | 'ahead' | 'msPerCall' | 'rules'>;

/** Safety factor: engines may become faster, and calls ahead may leave unserved. */
const MARGIN = 2;
const RETRY_MS_MIN = 1000;

/** The reason for refusing a call on arrival, and the time after which to ask again, where known. */
export interface TurnedAway {
  readonly refusal: Refusal;
  readonly retryAfterMs: number | undefined;
}

/**
 * Refuses a call that has just begun to wait if the queue is over a limit, or its wait is hopeless.
 */
export function turnedAway(call: Call, placement: Queue, nowMs: number): TurnedAway | undefined {
  if (overflows(call, placement)) return { refusal: 'queue_full', retryAfterMs: placement.msPerCall(call, nowMs) };
  const afterMs = retryAfterMs(call, placement, nowMs);
  return afterMs === undefined ? undefined : { refusal: 'overloaded', retryAfterMs: afterMs };
}

function overflows({ program, isBackground }: Call, { waiting, waitingOf, accounts, rules }: Queue): boolean {
  const { queuedMax, queuedPerTenantMax } = rules.config.limits;
  const counted = isBackground ? waiting : waiting - accounts.backgroundWaiting;
  return counted > queuedMax || waitingOf(program.tenant) > queuedPerTenantMax;
}

/**
 * Milliseconds after which the client of a newly queued call should ask again, because the call would surely outwait
 * the client's patience. Undefined: the call may wait.
 *
 * The wait is at least half of (calls ahead x the recent mean time between two completions under backlog). All calls up
 * to its level came before it. Once promoted by its ratio, it passes those above level 0. So they count only for a call
 * not promoted before `waitMsMax`, when they are all at the front as well.
 */
function retryAfterMs(call: Call, placement: Queue, nowMs: number): number | undefined {
  // A retry keeps its place in the queue, and an over-long call waits for no other.
  if (call.isPatient || call.returns > 0 || call.isOversized) return undefined;
  const msPerCall = placement.msPerCall(call, nowMs);
  if (msPerCall === undefined) return undefined;
  const { config, balancer } = placement.rules;
  const { timeouts, limits } = config;
  // A call without a request identity cannot be recognised when it is repeated.
  const tries = call.request === undefined || timeouts.ghostMs === 0 ? 1 : 1 + limits.clientRetries;
  const { promoteAtMs, overdueAtMs } = deadlinesOf(call, config, balancer);
  const level = call.rank === 0 && promoteAtMs >= overdueAtMs ? call.level : 0;
  const overMs = (placement.ahead(call, level) * msPerCall) / MARGIN - tries * timeouts.queueMs;
  return overMs > 0 ? Math.max(RETRY_MS_MIN, Math.ceil(overMs)) : undefined;
}
