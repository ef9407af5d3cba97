import type { Accounts } from '../programs/accounts.js';
import type { Call } from '../programs/call.js';
import type { Engine } from '../engines/engine.js';
import type { Headroom, WaitQueue } from '../queues/wait-queue.js';
import type { PlacementRules } from './balancer.js';

/*
 * The conditions under which an engine runs a waiting call. Placement asks them one by one, cheapest first;
 * `waits.ts` asks the same ones to tell why a call waits.
 *
 *     closedBy     the engine takes no call at all
 *     needTokens   the call's KV tokens, against the engine's headroom
 *     goesFirst    the room is kept for an earlier call
 *     isOutranked  another gateway holds a call of a better level for this engine
 *     pays         the call would slow down those in flight by more than it gains (`knee.ts`)
 */

/** Why an engine takes no call at all; undefined: it has a free slot. */
export function closedBy(
  engine: Engine,
  admits: boolean,
  nowMs: number,
): 'no_engine' | 'resting' | 'probation' | 'window' | undefined {
  if (!engine.isOpen(nowMs)) return engine.state === 'up' ? 'resting' : 'no_engine';
  if (engine.inFlight < engine.limitSize) return undefined;
  if (engine.probation) return 'probation';
  return admits ? 'window' : undefined;
}

/** Whether one of the engines has a free slot and a gate. Calls that wait then wait for the gate, which opens with time. */
export function gateHolds(engines: Iterable<Engine>, { policy, config }: PlacementRules, nowMs: number): boolean {
  if (!policy.admits || config.admission.gate === 0) return false;
  for (const engine of engines)
    if (engine.capacityTokens !== undefined && closedBy(engine, true, nowMs) === undefined) return true;
  return false;
}

/** Tokens that the call would add to the engine's working set, its family's prefix included. */
export function needTokens(call: Call, { workingSet }: Engine): number {
  return workingSet.needs.roomTokens(call) + workingSet.needs.missingSharedTokens(call);
}

/** Whether the headroom holds the call, and its family's prefix where that is missing. */
export const fitsInto =
  (engine: Engine, room: Headroom) =>
  (call: Call): boolean =>
    needTokens(call, engine) <= room[call.admissionClass];

/** The queues of calls that the engine runs before those it takes from other engines. */
export const queuesOf = ({ bound, pools }: Engine): WaitQueue<Call>[] => [
  bound,
  ...pools.map(({ unbound }) => unbound),
];

/** The first call of its own, in order, that has room there. */
export function firstFitting(engine: Engine, room: Headroom, accounts: Accounts): Call | undefined {
  const fits = fitsInto(engine, room);
  return accounts.firstAmong(queuesOf(engine).map((queue) => queue.firstFit(room, accounts, fits)));
}

export function gateOf(engine: Engine, { policy, config }: PlacementRules): number {
  return policy.admits ? engine.restTokens(config.admission.gate) : Infinity;
}

export function headroomOf(engine: Engine, { policy, config }: PlacementRules, nowMs: number): Headroom {
  return engine.headroom(policy.admits ? config.admission.gate : 0, nowMs);
}

/** Whether the room is kept for a call that comes before this one. @param call undefined: none has room */
export function goesFirst(reserved: Call | undefined, call: Call | undefined, accounts: Accounts): boolean {
  return reserved !== undefined && (call === undefined || accounts.before(reserved, call));
}

/** Whether a call that waits at another gateway comes first. Among equal levels each gateway uses its own slots. */
export function isOutranked(call: Call, engine: Engine, accounts: Accounts): boolean {
  return !accounts.areApart && call.level > engine.others.waitingLevel;
}
