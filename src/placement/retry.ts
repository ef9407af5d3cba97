import type { Engine } from '../engines/engine.js';
import type { Scope } from '../engines/rests.js';
import type { Call } from '../programs/call.js';
import { maySpill } from '../programs/escalation.js';
import type { Program } from '../programs/process-table.js';
import type { EngineBroke, EngineClosed, Refusal } from '../protocol/events.js';
import type { Placement } from './placement.js';

/*
 * Consequences of failing engines for where a call may run.
 *
 *     busy              the engine rests for its program, tenant or everyone (`Rests`), and its window shrinks if the
 *                       engine is full, or if there is nobody else to judge by
 *     unreached         the engine rests, and the call may go anywhere
 *     broken            the call runs on another engine; where there is none, it pauses
 *                       for `pauseMs`, then on any engine but those on probation
 */

/** An engine sent the call back, which runs no longer. Returns the reason if it is not tried again. */
export function setBack(
  call: Call,
  engine: Engine,
  event: EngineBroke | EngineClosed,
  placement: Placement,
  nowMs: number,
): Refusal | undefined {
  const { config, balancer } = placement.rules;
  const { limits, timeouts } = config;
  if (event.failure === 'broken') {
    const { pauseMs = 0 } = event;
    call.brokenBy(engine, pauseMs > 0 ? nowMs + pauseMs : -Infinity);
    const isOver = call.attempts >= limits.attemptsMax || call.failedOn.length >= limits.enginesFailedMax;
    return isOver ? 'attempts_exhausted' : undefined;
  }
  const { failure, restMs } = event;
  if (failure === 'unreached') engine.rests.unreached(restMs, nowMs);
  else {
    const scope = engine.rests.refused(call, restMs, nowMs);
    // An over-long call ran beside the window.
    if (!call.isOversized && isFull(engine, call, scope, placement))
      engine.limit.refused(call.dispatchedAtMs, nowMs, engine.inFlightAnywhere + 1);
  }
  placement.rest(engine);
  call.isUnbound ||= maySpill(call, balancer);
  call.unreachedAtMs = failure === 'busy' ? Infinity : Math.min(call.unreachedAtMs, nowMs);
  return nowMs - call.unreachedAtMs > timeouts.noEngineMs ? 'no_engine' : undefined;
}

/** Whether the refusal means that the engine is full: it refuses several tenants, or there is nobody else to judge by. */
function isFull(engine: Engine, call: Call, scope: Scope, placement: Placement): boolean {
  if (scope === 'everyone') return true;
  if (engine.rests.servesOthers(call, scope)) return false;
  const { program } = call;
  if (scope === 'program' && program.waiting < placement.queues.size) return false;
  if (scope === 'tenant' && placement.queues.of(program.tenant) < placement.queues.size) return false;
  const isLike: Record<typeof scope, (other: Program) => boolean> = {
    newcomers: ({ callsFinished }) => callsFinished === 0,
    program: (other) => other === program,
    tenant: ({ tenant }) => tenant === program.tenant,
  };
  return [...engine.running].every((other) => isLike[scope](other.program));
}

/** The engine answers the call: it works, and has room for calls like this one. */
export function accepted(call: Call, engine: Engine, placement: Placement, nowMs: number): void {
  proved(engine, placement);
  if (!engine.rests.accepted(call, nowMs)) return;
  placement.touch(engine);
  placement.retryOn(engine);
}

export function proved(engine: Engine, placement: Placement): void {
  if (!engine.probation) return;
  engine.probation = false;
  placement.touch(engine);
  placement.retryOn(engine);
}
