import type { Engine } from '../engines/engine.js';
import type { EngineTable } from '../engines/engine-table.js';
import type { PlacementRules } from './balancer.js';
import type { Call } from '../programs/call.js';
import type { ModelId } from '../protocol/units.js';
import type { ModelPool } from '../queues/model-pool.js';

export const named = ({ onlyOn }: Call, live: readonly Engine[]): readonly Engine[] =>
  onlyOn === undefined ? live : live.filter(({ id }) => id === onlyOn);

/**
 * Those of the engines that may run a call that engines have failed: others than these, or all once its pause is over.
 * None on probation, since the failure may be the call's own and would condemn an engine that is well again.
 */
function retriersOf(call: Call, live: readonly Engine[]): readonly Engine[] {
  const sound = named(call, live).filter(({ probation }) => !probation);
  const untried = sound.filter((engine) => !call.failedOn.includes(engine));
  return untried.length > 0 || call.retryAtMs !== -Infinity ? untried : sound;
}

export const holds = ({ rests }: Engine, { program }: Call): boolean => rests.untilOf(program) !== undefined;

/** Those of the engines that may run the call, by its client and its failures, and do not refuse calls like it. */
export function openTo(call: Call, live: readonly Engine[]): readonly Engine[] {
  const able = call.failedOn.length > 0 ? retriersOf(call, live) : named(call, live);
  return able.every(({ rests }) => rests.isQuiet) ? able : able.filter((engine) => !holds(engine, call));
}

interface Served {
  readonly rules: PlacementRules;
  readonly engineTable: EngineTable;
}

/** The engine that the call must wait for: by its client, by those that may run it again, or by the balancer. */
export function bindingOf(call: Call, { rules: { balancer }, engineTable }: Served): Engine | undefined {
  const pool = engineTable.pool(call.model);
  const hasFailed = call.failedOn.length > 0;
  if (call.onlyOn !== undefined && !hasFailed) {
    const only = engineTable.engines.get(call.onlyOn);
    return only !== undefined && holds(only, call) ? undefined : only;
  }
  const open = openTo(call, pool.live);
  if (hasFailed || open.length < pool.live.length) return open.length === 0 ? undefined : balancer.choose(call, open);
  const { home } = call.program;
  return balancer.place(call, home?.pools.includes(pool) === true ? home : undefined, pool.live);
}

export const heldOf = (engine: Engine, ...calls: readonly (Call | undefined)[]): Call | undefined =>
  engine.rests.isQuiet ? undefined : calls.find((call) => call !== undefined && holds(engine, call));

export function mayStay({ model, failedOn }: Call, engine: Engine, models: readonly ModelId[]): boolean {
  return engine.state === 'up' && models.includes(model) && !(engine.probation && failedOn.length > 0);
}

/** Since when no engine that may run the waiting call has been up; Infinity: one is. */
export function strandedAtMs(call: Call, pool: ModelPool): number {
  if (call.onlyOn === undefined && pool.live.length > 0) return Infinity;
  const able = named(call, pool.engines);
  if (able.some((engine) => engine.state === 'up')) return Infinity;
  return Math.max(call.queuedAtMs, ...able.map((engine) => engine.lostAtMs));
}

export function isMoving(call: Call): boolean {
  return call.boundTo !== undefined && call.boundTo.finishedAtMs >= call.queuedAtMs;
}
