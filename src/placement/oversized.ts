import type { Engine } from '../engines/engine.js';
import type { Call } from '../programs/call.js';
import type { Accounts } from '../programs/accounts.js';
import type { Headroom } from '../queues/wait-queue.js';
import type { ModelPool } from '../queues/model-pool.js';
import { named, openTo } from './eligible.js';

/*
 * Prompts that exceed the limit of every engine. An engine refuses one at once; the agent must hear that at once, because
 * it then shortens the prompt. So the call waits for neither slot nor room, only for an engine that is open, in a queue
 * of its own: it reserves nothing and holds up nobody. If an engine answers it all the same, that teaches nothing of
 * what the engine can do, since the call ran beside the window and the batch.
 */

/** Ratio to the limit from which a prompt is surely over-long: prompt lengths are estimates. */
const SURELY_OVER = 1.25;
/** Most calls that an engine is to refuse at once, beside its window: a padded prompt only looks over-long. */
export const PASSING_MAX = 2;

/** Whether the prompt exceeds all limits of engines for it. If it only may, it counts where no gate would admit it. */
export function isOversized(call: Call, live: readonly Engine[], gate: number): boolean {
  const engines = named(call, live);
  let longest = 0;
  let widest = 0;
  for (const engine of engines) {
    if (engine.contextTokensMax === undefined) return false;
    longest = Math.max(longest, engine.contextTokensMax);
    widest = Math.max(widest, engine.gateTokens(gate));
  }
  if (engines.length === 0 || call.promptTokens <= longest) return false;
  return call.promptTokens > longest * SURELY_OVER || call.needTokens > widest;
}

/** Whether the engine may be sent one more over-long call. On probation it runs one call at a time. */
function mayRefuse(engine: Engine, nowMs: number): boolean {
  if (!engine.isOpen(nowMs)) return false;
  if (engine.probation) return engine.inFlight === 0;
  let passing = 0;
  for (const call of engine.running) if (call.isOversized) passing += 1;
  return passing < PASSING_MAX;
}

/** A call, and the engine that may run it now. */
export interface Match {
  readonly call: Call;
  readonly engine: Engine;
}

const ANY_ROOM: Headroom = { resident: Infinity, aged: Infinity, new: Infinity };

/** The first over-long call that may be sent out, by the touched engines' models, and the least busy of its refusers. */
export function nextOversized(touched: readonly Engine[], accounts: Accounts, nowMs: number): Match | undefined {
  for (const { pools } of touched)
    for (const { oversized, live } of pools) {
      const open = oversized.size === 0 ? [] : live.filter((engine) => mayRefuse(engine, nowMs));
      if (open.length === 0) continue;
      const refusers = (call: Call): readonly Engine[] => openTo(call, live).filter((each) => open.includes(each));
      const call = oversized.firstFit(ANY_ROOM, accounts, (each) => refusers(each).length > 0);
      if (call !== undefined)
        return { call, engine: refusers(call).reduce((a, b) => (b.inFlight < a.inFlight ? b : a)) };
    }
  return undefined;
}

/** Waiting calls that the present engines of these pools make over-long, and all that were. */
export function resizedIn(pools: readonly ModelPool[], isNow: (call: Call) => boolean): readonly Call[] {
  const placed = pools.flatMap(({ unbound, live }) => [...unbound, ...live.flatMap(({ bound }) => [...bound])]);
  const oversized = pools.flatMap((pool) => [...pool.oversized]);
  return [...new Set([...placed.filter(isNow), ...oversized])];
}
