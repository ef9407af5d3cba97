import type { Engine } from '../engines/engine.js';
import type { Policy } from '../policies/policy.js';
import { durationMsOf } from '../programs/accounting.js';
import type { Program } from '../programs/process-table.js';
import type { EngineId, Millis, Tokens } from '../protocol/units.js';
import { threadView, type ThreadView } from './wait-views.js';

/** Engine time to come: as declared, or the median of its agent type. Infinity: hardly any ended after as much. */
export interface ForecastView {
  readonly source: 'declared' | 'learnt';
  readonly remainingMs: number;
  /** Whether the policy in force ranks by it. */
  readonly used: boolean;
}

export function forecastOf(
  row: Program | undefined,
  { foresees = false, learns = false }: Policy,
): ForecastView | undefined {
  if (row === undefined) return undefined;
  const { serviceMs, outlook, type } = row;
  const declaredMs = outlook?.declaredMs(serviceMs);
  if (declaredMs !== undefined) return { source: 'declared', remainingMs: declaredMs, used: foresees };
  if (!learns || !type.index.isLearnt) return undefined;
  return { source: 'learnt', remainingMs: type.index.medianMsToEnd(serviceMs), used: true };
}

/** A row of the process table, for people and metrics. Times are in milliseconds on the driver's clock. */
export type ProgramView = Readonly<ReturnType<typeof programView>>;

export function programView(row: Program, policy: Policy, nowMs: number) {
  const threads = row.activeCalls.toSorted((a, b) => a.seq - b.seq).map((call) => threadView(call, nowMs));
  const running = threads.flatMap((thread) => (thread.state === 'running' && thread.engine ? [thread.engine] : []));
  const waitingNow = row.activeCalls.reduce((sum, call) => sum + call.waitingMs(nowMs) - call.waitedMs, 0);
  return {
    id: row.id,
    tenant: row.tenant,
    /** Best queue of its active calls, 0 first; without any, the queue that its next call would enter now. */
    level: Math.min(
      ...(threads.length > 0
        ? threads
        : [policy.stand({ serviceAtArrivalMs: row.serviceMs, arrivedAtMs: nowMs }, row, nowMs)]
      ).map(({ level }) => level),
    ),
    /** Whether all of its active calls, of which there are some, are background calls. */
    background: threads.length > 0 && threads.every((thread) => thread.background),
    serviceMs: row.serviceMs as Millis,
    /** Sum of the waits of all its calls, including present ones. */
    waitingMs: (row.waitingMs + waitingNow) as Millis,
    /** Longest wait of one call so far. */
    waitMsMax: threads.reduce((most, thread) => Math.max(most, thread.waitingMs), row.waitMsMax) as Millis,
    /** The live engine of its long calls. */
    home: row.home?.id,
    /** Engines that now run its calls. */
    engines: [...new Set(running)] as readonly EngineId[],
    threads: threads as readonly ThreadView[],
    activeCalls: threads.length,
    callsTotal: row.callsTotal,
    promotions: row.promotions,
    contextTokens: row.contextTokens as Tokens,
    /** Tokens of its contexts that its home has on the host, by our estimate. */
    onHostTokens: (row.home?.workingSet.contents.onHostTokensOf(row) ?? 0) as Tokens,
    promptTokens: row.promptTokens as Tokens,
    cachedTokens: row.cachedTokens as Tokens,
    outputTokens: row.outputTokens as Tokens,
    createdAtMs: row.createdAtMs as Millis,
    lastArrivalAtMs: row.lastArrivalAtMs as Millis,
    lastCompletionAtMs: row.lastCompletionAtMs as Millis | undefined,
    /** Undefined: nothing is foreseen. */
    forecast: forecastOf(row, policy),
    /** Why it has left the table while calls of it are active; undefined: it is there. */
    removed: row.removed,
  };
}

/** A program without an active call. */
export type IdleProgram = Readonly<ReturnType<typeof idleView>>;

export function idleView(row: Program) {
  /** From its first arrival to its last completion. */
  const durationMs = durationMsOf(row);
  return { program: row.id, idleSinceMs: (row.idleSinceMs ?? 0) as Millis, durationMs };
}

/** A program with calls in flight on an engine. */
export type HolderView = Readonly<ReturnType<typeof holderView>>;

export function holderView(row: Program, engine: Engine | undefined) {
  const contexts = engine?.workingSet.contents.of(row).filter(({ state }) => state === 'active') ?? [];
  return {
    program: row.id,
    /** When each of its calls in flight there arrived. */
    arrivedAtMs: row.activeCalls.flatMap((call) => (call.engine === engine ? (call.arrivedAtMs as Millis) : [])),
    /** Of its contexts in use there, without shared prefixes. */
    tokens: contexts.reduce((sum, { countedTokens }) => sum + countedTokens, 0) as Tokens,
  };
}
