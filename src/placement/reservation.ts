import type { EngineTable } from '../engines/engine-table.js';
import type { Engine } from '../engines/engine.js';
import type { Accounts } from '../programs/accounts.js';
import type { Call } from '../programs/call.js';
import type { PlacementRules } from './balancer.js';
import { headroomOf, queuesOf } from './obstacle.js';

/** Part of `reserveMs` after which a call of a tenant behind its share reserves room. */
const EARLY_SHARE = 1 / 8;

/**
 * The call that reserves the engine's room: an aged call that does not fit even beside the calls in flight. Later calls
 * wait until it fits. An unbound call reserves one engine only, the one with most room.
 * @param head the first aged call that the engine may run, if it does not fit
 */
export function reservationOf(
  engine: Engine,
  head: Call | undefined,
  engineTable: EngineTable,
  rules: PlacementRules,
  nowMs: number,
): Call | undefined {
  if (engine.reservedFor !== undefined) return engine.reservedFor;
  if (head === undefined || head.reservedOn !== undefined) return undefined;
  if (head.admissionClass === 'aged' && nowMs < engine.evictableAtMs) return undefined;
  if (head.boundTo === undefined && roomiest(engineTable.pool(head.model).live, rules, nowMs) !== engine)
    return undefined;
  engine.reservedFor = head;
  head.reservedOn = engine;
  return head;
}

/**
 * The first call in order, if it lacks room while its tenant is behind its share, and it has waited for a part of
 * `reserveMs`: it ages at once. Else calls of other tenants that fit would keep it from its share.
 * @param fit the first call that has room
 */
export function agesEarly(
  engine: Engine,
  fit: Call | undefined,
  accounts: Accounts,
  reserveMs: number,
  nowMs: number,
): Call | undefined {
  if (!accounts.areApart) return undefined;
  const first = accounts.firstAmong(queuesOf(engine).map((queue) => queue.first(accounts)));
  if (first === undefined || first.isAged || first.turn === fit?.turn) return undefined;
  return first.waitingMs(nowMs) >= EARLY_SHARE * reserveMs && accounts.isBehind(first.turn) ? first : undefined;
}

function roomiest(live: readonly Engine[], rules: PlacementRules, nowMs: number): Engine | undefined {
  const roomOf = (engine: Engine): number => headroomOf(engine, rules, nowMs).aged;
  const open = live.filter((engine) => engine.isOpen(nowMs));
  return open.reduce<Engine | undefined>((a, b) => (a === undefined || roomOf(b) > roomOf(a) ? b : a), undefined);
}
