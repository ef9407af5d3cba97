import {
  type CallId,
  type CallView,
  type Dispatch,
  type ObstacleView,
  type ProgramView,
  type ThreadView,
  type WaitView,
  type WaitingCall,
} from '../../src/index.js';
import type { Context } from '../context.js';
import type { Engine } from '../engines/index.js';
import { labelOf } from '../identity/names.js';

/** The scheduler's state in admin answers: base units, the same shape everywhere. */

export const seconds = (ms: number): number => Math.round(ms) / 1000;

/** Seconds until a time; null: never. */
export const inSeconds = (atMs: number | undefined, now: number): number | null =>
  atMs === undefined ? null : seconds(Math.max(0, atMs - now));

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
export function programDetail(
  row: ProgramView,
  calls: ReadonlyMap<string, number>,
  views: ReadonlyMap<CallId, CallView>,
  now: number,
) {
  const ofAgents = [...calls.values()].reduce((sum, made) => sum + made, 0);
  const threads = [...new Map([['', row.callsTotal - ofAgents], ...calls])].filter(([, made]) => made > 0);
  return {
    ...programRow(row, now),
    threads: threads.map(([thread, made]) => {
      const active = row.threads.filter((call) => (calls.has(call.thread) ? call.thread : '') === thread);
      return {
        thread,
        calls: made,
        active: active.map((call) => callRow(call, views.get(call.call)?.waiting?.nearest, now)),
      };
    }),
  };
}

function callRow(thread: ThreadView, wait: WaitView | undefined, now: number) {
  return {
    call: thread.call,
    state: thread.state,
    level: thread.level,
    model: thread.model,
    engine: thread.engine ?? null,
    waiting_seconds: seconds(thread.waitingMs),
    service_seconds: seconds(thread.serviceMs),
    waiting_for: wait === undefined ? null : waitRow(wait, now),
  };
}

export function waitRow(wait: WaitView, now: number) {
  const { ahead, oldestAhead } = wait;
  return { ...obstacleRow(wait, now), ahead, oldest_ahead: waitingRow(oldestAhead) };
}

export function obstacleRow({ cause, engine, needs, free, limit, behind, untilMs }: ObstacleView, now: number) {
  return {
    cause,
    engine: engine ?? null,
    /** Calls for `window` and `probation`, tokens for `kv`; null: the cause has none. */
    needs: needs ?? null,
    free: free ?? null,
    limit: limit ?? null,
    behind: waitingRow(behind),
    ends_in_seconds: inSeconds(untilMs, now),
  };
}

function waitingRow(waiting: WaitingCall | undefined) {
  if (waiting === undefined) return null;
  return { call: waiting.call, program: waiting.program, waiting_seconds: seconds(waiting.waitingMs) };
}

export function dispatchRow({ engine, level, queueMs, reason, placement }: Dispatch) {
  return { engine, placement, reason, level, queue_seconds: seconds(queueMs) };
}

export function engineRow(context: Context, engine: Engine) {
  const view = context.driver.scheduler.views.engine(engine.id);
  return {
    id: engine.id,
    url: engine.url.href,
    kind: engine.adapter.kind,
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
  const { views } = context.driver.scheduler;
  const { waiting, byLevel, longestWaitMs } = views.queue();
  return {
    waiting,
    limit: context.config.limits.queuedMax,
    longest_wait_seconds: seconds(longestWaitMs),
    waiting_for: views.waitCauses(),
    levels: byLevel.map((calls, level) => ({ level, waiting: calls })),
  };
}

/** The sources that named the programs of the last calls. */
export function identityRow({ identified }: Context) {
  const sources = identified.counts().map(([source, calls]) => ({ source, calls }));
  return { calls: sources.reduce((sum, { calls }) => sum + calls, 0), sources };
}
