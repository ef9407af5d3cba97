import type { Call } from '../programs/call.js';
import { deadlinesOf } from '../programs/escalation.js';
import type { TenantView } from '../programs/accounts.js';
import type { Placement } from '../placement/placement.js';
import { strandedAtMs } from '../placement/eligible.js';
import { Waits, type Obstacle, type WaitCause } from '../placement/waits.js';
import type { Dispatch } from '../protocol/events.js';
import type { CallId, EngineId, Millis, ModelId, ProgramId } from '../protocol/units.js';

/** Why a waiting call is not dispatched. Times are on the driver's clock. */
export interface WaitView extends ObstacleView {
  readonly level: number;
  /** Number of waiting calls that come before it where it waits, and the oldest of them. */
  readonly ahead: number;
  readonly oldestAhead: WaitingCall | undefined;
  /** Whether it may take only the room that no other call needs. */
  readonly background: boolean;
}

/** The shortage of one engine for a call; undefined fields do not apply to the cause. */
export interface ObstacleView {
  readonly cause: WaitCause;
  /** Undefined: no engine is up, or none in particular. */
  readonly engine: EngineId | undefined;
  /** Needed, free (below 0: overdrawn), and their limit: calls for `window` and `probation`, tokens for `kv`. */
  readonly needs: number | undefined;
  readonly free: number | undefined;
  readonly limit: number | undefined;
  /** The call that comes first, with `turn`. */
  readonly behind: WaitingCall | undefined;
  /** When time alone ends the cause; undefined: an event must end it. */
  readonly untilMs: Millis | undefined;
}

export interface WaitingCall {
  readonly call: CallId;
  readonly program: ProgramId;
  readonly waitingMs: Millis;
}

/** An active call: Autellix's thread metadata. */
export interface ThreadView {
  readonly call: CallId;
  /** The sub-agent's own id, '' for the root. */
  readonly thread: string;
  readonly state: 'waiting' | 'running';
  /** Whether it may take only the room that no other call needs. */
  readonly background: boolean;
  readonly level: number;
  readonly model: ModelId;
  readonly engine: EngineId | undefined;
  readonly arrivedAtMs: Millis;
  readonly waitingMs: Millis;
  readonly serviceMs: Millis;
  readonly startedAtMs: Millis | undefined;
}

/** All that decides on one active call. */
export interface CallView extends ThreadView {
  readonly program: ProgramId;
  /** Attained service of its program on its arrival, by which it is ranked. */
  readonly serviceAtArrivalMs: Millis;
  readonly promoted: boolean;
  readonly overdue: boolean;
  /** Other engines may take it from the engine that it must wait for. */
  readonly mayLeave: boolean;
  /** Its last dispatch; undefined: none yet. */
  readonly dispatch: Dispatch | undefined;
  /** Undefined: it runs. */
  readonly waiting: Waiting | undefined;
}

interface Waiting {
  readonly nearest: WaitView;
  /** Each engine that may run it, the nearest obstacle among them. */
  readonly engines: readonly ObstacleView[];
  /** Its tenant's engine time; undefined where tenants are not told apart. */
  readonly share: TenantView | undefined;
  /** When it moves to the front; undefined: it is there, or never. */
  readonly promoteAtMs: Millis | undefined;
  /** When it counts as overdue; undefined: it does. */
  readonly overdueAtMs: Millis | undefined;
  /** When it is refused if nothing changes; undefined: never. */
  readonly refuseAtMs: Millis | undefined;
}

/** The parts of placement that tell why a call waits. */
export type Placed = Pick<Placement, 'rules' | 'accounts' | 'completionIndex' | 'engineTable'>;

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
  for (const call of calls) if (call.state === 'waiting') yield [call.id, waitView(call, waits, nowMs)];
}

/** These active calls, each with why it waits. */
export function callViews(calls: readonly Call[], { placement, stepMs, nowMs }: Moment): Map<CallId, CallView> {
  const waits = new Waits(placement, stepMs);
  return new Map(calls.map((call) => [call.id, callView(call, placement, waits, nowMs)]));
}

export function threadView(call: Call, nowMs: number): ThreadView {
  const running = call.state === 'running';
  return {
    call: call.id,
    thread: call.thread,
    state: call.state,
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

function callView(call: Call, placement: Placed, waits: Waits, nowMs: number): CallView {
  return {
    ...threadView(call, nowMs),
    program: call.program.id,
    serviceAtArrivalMs: call.serviceAtArrivalMs as Millis,
    promoted: call.promoted,
    overdue: call.overdue,
    mayLeave: call.isStealable,
    dispatch: call.dispatch,
    waiting: call.state === 'waiting' ? waitingOf(call, placement, waits, nowMs) : undefined,
  };
}

function waitingOf(call: Call, placement: Placed, waits: Waits, nowMs: number): Waiting {
  const { rules, engineTable } = placement;
  const strandMs = strandedAtMs(call, engineTable.pool(call.model));
  const due = deadlinesOf(call, rules.config, rules.balancer, strandMs);
  return {
    nearest: waitView(call, waits, nowMs),
    engines: waits.at(call).map((obstacle) => obstacleView(obstacle, nowMs)),
    share: placement.accounts.viewOf(call.turn.account),
    promoteAtMs: timeOf(due.promoteAtMs),
    overdueAtMs: timeOf(due.overdueAtMs),
    refuseAtMs: timeOf(Math.min(due.timeoutAtMs, due.strandAtMs)),
  };
}

function waitView(call: Call, waits: Waits, nowMs: number): WaitView {
  const nearest = waits.nearest(call);
  const { calls, oldest } = waits.ahead(call, nearest.engine);
  const { cause, engine, needs, free, limit, behind, untilMs } = obstacleView(nearest, nowMs);
  const oldestAhead = waitingCall(oldest, nowMs);
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
    ahead: calls,
    oldestAhead,
    background: call.isBackground,
  };
}

function obstacleView({ cause, engine, needs, free, limit, behind, untilMs }: Obstacle, nowMs: number): ObstacleView {
  const until = timeOf(untilMs ?? Infinity);
  return { cause, engine: engine?.id, needs, free, limit, behind: waitingCall(behind, nowMs), untilMs: until };
}

function waitingCall(call: Call | undefined, nowMs: number): WaitingCall | undefined {
  return call && { call: call.id, program: call.program.id, waitingMs: call.waitingMs(nowMs) as Millis };
}

const timeOf = (ms: number): Millis | undefined => (Number.isFinite(ms) ? (ms as Millis) : undefined);
