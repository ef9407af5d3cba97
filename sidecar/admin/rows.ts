import { type ProgramView, type ThreadView } from '../../src/index.js';
import type { Context } from '../context.js';
import type { Engine } from '../engines/index.js';
import { labelOf } from '../identity/names.js';

/** The scheduler's state in admin answers: base units, the same shape everywhere. */

const seconds = (ms: number): number => Math.round(ms) / 1000;

export function programRow(row: ProgramView, now: number) {
  return {
    id: labelOf(row.id),
    tenant: row.tenant,
    /** The scheduler's own id, unique among tenants. */
    key: row.id,
    level: row.level,
    attained_service_seconds: seconds(row.serviceMs),
    waiting_seconds: seconds(row.waitingMs),
    longest_wait_seconds: seconds(row.waitMsMax),
    engine: row.home ?? row.engines[0] ?? null,
    engines: row.engines,
    active_calls: row.activeCalls,
    calls: row.callsTotal,
    promotions: row.promotions,
    context_tokens: row.contextTokens,
    prompt_tokens: row.promptTokens,
    cached_tokens: row.cachedTokens,
    output_tokens: row.outputTokens,
    age_seconds: seconds(now - row.createdAtMs),
    idle_seconds: row.activeCalls > 0 ? 0 : seconds(now - (row.lastCompletionAtMs ?? row.lastArrivalAtMs)),
  };
}

/** One program with its threads, the root first, and the active calls of each. */
export function programDetail(row: ProgramView, calls: ReadonlyMap<string, number>, now: number) {
  const ofAgents = [...calls.values()].reduce((sum, made) => sum + made, 0);
  const threads = [...new Map([['', row.callsTotal - ofAgents], ...calls])].filter(([, made]) => made > 0);
  return {
    ...programRow(row, now),
    threads: threads.map(([thread, made]) => {
      const active = row.threads.filter((call) => (calls.has(call.thread) ? call.thread : '') === thread);
      return { thread, calls: made, active: active.map(callRow) };
    }),
  };
}

function callRow(thread: ThreadView) {
  return {
    call: thread.call,
    state: thread.state,
    level: thread.level,
    model: thread.model,
    engine: thread.engine ?? null,
    waiting_seconds: seconds(thread.waitingMs),
    service_seconds: seconds(thread.serviceMs),
  };
}

export function engineRow(context: Context, engine: Engine) {
  const view = context.driver.scheduler.views.engine(engine.id);
  return {
    id: engine.id,
    url: engine.url.href,
    kind: engine.adapter.kind,
    /** Who has it in the fleet; null: it is being removed. */
    source: context.membership.originOf(engine.id) ?? null,
    state: engine.state,
    models: [...engine.models.keys()],
    /** Null: the policy has no window, or the engine has not joined yet. */
    window: view === undefined || view.window === Infinity ? null : view.window,
    in_flight: view?.inFlight ?? 0,
    working_set_tokens: view?.workingSetTokens ?? 0,
    capacity_tokens: view?.capacityTokens ?? null,
    resting: view?.resting ?? false,
    engine_running: engine.load.running ?? null,
    engine_waiting: engine.load.waiting ?? null,
    kv_usage: engine.load.kvUsage ?? null,
  };
}

export function queueRow(context: Context) {
  const { waiting, byLevel, longestWaitMs } = context.driver.scheduler.views.queue();
  return {
    waiting,
    limit: context.config.limits.queuedMax,
    longest_wait_seconds: seconds(longestWaitMs),
    levels: byLevel.map((calls, level) => ({ level, waiting: calls })),
  };
}
