import type { Call } from '../programs/call.js';
import { deadlinesOf, type Deadlines } from '../programs/escalation.js';
import type { Placement } from '../placement/placement.js';
import { strandedAtMs } from '../placement/eligible.js';
import { Waits, type Obstacle, type WaitCause } from '../placement/waits.js';
import type { CallId, Millis } from '../protocol/units.js';

/** Why a waiting call is not dispatched. Times are on the driver's clock. */
export type WaitView = Readonly<ReturnType<typeof waitView>>;
/** The shortage of one engine for a call; undefined fields do not apply to the cause. */
export type ObstacleView = Readonly<ReturnType<typeof obstacleView>>;
export type WaitingCall = Readonly<NonNullable<ReturnType<typeof waitingCall>>>;
/** An active call: Autellix's thread metadata. */
export type ThreadView = Readonly<ReturnType<typeof threadView>>;
/** All that decides on one active call. */
export type CallView = Readonly<ReturnType<typeof callView>>;

/** The parts of placement that tell why a call waits. */
export type Placed = Pick<Placement, 'rules' | 'accounts' | 'completionIndex' | 'engineTable' | 'queues'>;

export interface Moment {
  readonly placement: Placed;
  /** Time of the last step: what it left waiting waits for the causes of that time. */
  readonly stepMs: number;
  /** The present, up to which durations are counted. */
  readonly nowMs: number;
}

export function* causes(calls: Iterable<Call>, { placement, stepMs }: Moment): IterableIterator<[Call, WaitCause]> {
  const waits = new Waits(placement, stepMs);
  for (const call of calls) if (call.state === 'waiting') yield [call, waits.nearest(call).cause];
}

export function* waitViews(
  calls: Iterable<Call>,
  { placement, stepMs, nowMs }: Moment,
): IterableIterator<[CallId, WaitView]> {
  const waits = new Waits(placement, stepMs);
  for (const call of calls)
    if (call.state === 'waiting') {
      const due = deadlinesOf(call, placement.rules.config, placement.rules.balancer);
      yield [call.id, waitView(call, waits, due, nowMs)];
    }
}

/** These active calls, each with why it waits. */
export function callViews(calls: readonly Call[], { placement, stepMs, nowMs }: Moment): Map<CallId, CallView> {
  const waits = new Waits(placement, stepMs);
  return new Map(calls.map((call) => [call.id, callView(call, placement, waits, nowMs)]));
}

export function threadView(call: Call, nowMs: number) {
  const running = call.state === 'running';
  return {
    call: call.id,
    /** The sub-agent's own id, '' for the root. */
    thread: call.thread,
    state: call.state,
    /** Whether it may take only the room that no other call needs. */
    background: call.isBackground,
    level: call.level,
    model: call.model,
    engine: (call.engine ?? call.boundTo)?.id,
    arrivedAtMs: call.arrivedAtMs as Millis,
    waitingMs: call.waitingMs(nowMs) as Millis,
    serviceMs: (running ? nowMs - call.dispatchedAtMs : 0) as Millis,
    startedAtMs: call.startedAtMs as Millis | undefined,
  };
}

function callView(call: Call, placement: Placed, waits: Waits, nowMs: number) {
  return {
    ...threadView(call, nowMs),
    program: call.program.id,
    /** Attained service of its program on its arrival, by which it is ranked. */
    serviceAtArrivalMs: call.serviceAtArrivalMs as Millis,
    promoted: call.promoted,
    overdue: call.overdue,
    promptTokens: call.promptTokens,
    /** Kept free for its answer. */
    reservedTokens: call.needTokens - call.promptTokens,
    /** Other engines may take it from the engine that it must wait for. */
    mayLeave: call.isStealable,
    /** The reason why it is bound to its engine. */
    boundBy: boundBy(call),
    /** Its prompt exceeds the longest context of every engine: one is to refuse it at once. */
    oversized: call.isOversized,
    /** Its last dispatch; undefined: none yet. */
    dispatch: call.dispatch,
    /** Undefined: it runs. */
    waiting: call.state === 'waiting' ? waitingOf(call, placement, waits, nowMs) : undefined,
  };
}

/** As `bindingOf` decides. */
const boundBy = ({ failedOn, onlyOn }: Call): 'failure' | 'request' | 'balancer' =>
  failedOn.length > 0 ? 'failure' : onlyOn === undefined ? 'balancer' : 'request';

function waitingOf(call: Call, placement: Placed, waits: Waits, nowMs: number) {
  const { rules, engineTable } = placement;
  const strandMs = strandedAtMs(call, engineTable.pool(call.model));
  const due = deadlinesOf(call, rules.config, rules.balancer, strandMs);
  return {
    nearest: waitView(call, waits, due, nowMs),
    /** Each engine that may run it, the nearest obstacle among them. */
    engines: waits.at(call).map((obstacle) => obstacleView(obstacle, nowMs)),
    /** Its tenant's engine time; undefined where tenants are not told apart. */
    share: placement.accounts.viewOf(call.turn.account),
    /** When it moves to the front; undefined: it is there, or never. */
    promoteAtMs: timeOf(due.promoted),
    /** When it counts as overdue; undefined: it does. */
    overdueAtMs: timeOf(due.overdue),
    /** When other engines may take it; undefined: they may, or never. */
    leaveAtMs: timeOf(due.stealable),
    /** When it is refused if nothing changes; undefined: never. */
    refuseAtMs: timeOf(Math.min(due.timedOut, due.stranded)),
  };
}

function waitView(call: Call, waits: Waits, due: Deadlines, nowMs: number) {
  const nearest = waits.nearest(call);
  const { calls, oldest } = waits.ahead(call, nearest.engine);
  const { cause, engine, needs, free, limit, behind, untilMs } = obstacleView(nearest, nowMs);
  // No spread: it would take most of the time of a view of ten thousand calls.
  return {
    cause,
    engine,
    needs,
    free,
    limit,
    behind,
    untilMs,
    level: call.level,
    waitingMs: call.waitingMs(nowMs) as Millis,
    /** Number of waiting calls that come before it where it waits, and the oldest of them. */
    ahead: calls,
    oldestAhead: waitingCall(oldest, nowMs),
    /** When no call that has waited less comes before it any more; undefined: it is so, or never. */
    frontAtMs: timeOf(Math.min(due.promoted, due.overdue)),
    /** Whether it may take only the room that no other call needs. */
    background: call.isBackground,
  };
}

function obstacleView({ cause, engine, needs, free, limit, behind, untilMs }: Obstacle, nowMs: number) {
  return {
    cause,
    /** Undefined: no engine is up, or none in particular. */
    engine: engine?.id,
    /** Needed, free (below 0: overdrawn), and their limit: calls for `window` and `probation`, tokens for `kv`. */
    needs,
    free,
    limit,
    /** The call that comes first, with `turn`. */
    behind: waitingCall(behind, nowMs),
    /** When time alone ends the cause; undefined: an event must end it. */
    untilMs: timeOf(untilMs ?? Infinity),
  };
}

function waitingCall(call: Call | undefined, nowMs: number) {
  return call && { call: call.id, program: call.program.id, waitingMs: call.waitingMs(nowMs) as Millis };
}

const timeOf = (ms: number): Millis | undefined => (Number.isFinite(ms) ? (ms as Millis) : undefined);
