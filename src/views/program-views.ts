import type { Policy } from '../policies/policy.js';
import type { Program } from '../programs/process-table.js';
import type { Dispatch } from '../protocol/events.js';
import type { EngineId, Millis, ProgramId, TenantId, Tokens } from '../protocol/units.js';
import { threadView, type ThreadView } from './wait-views.js';

/**
 * Engine time to come of a program: as its client declares it, or as learnt of its agent type. Infinity: no program of
 * its type ended after as much.
 */
export interface ForecastView {
  readonly source: 'declared' | 'learnt';
  readonly remainingMs: number;
  /** Whether the policy in force ranks by it. */
  readonly used: boolean;
}

/** A row of the process table, for people and metrics. Times are in milliseconds on the driver's clock. */
export interface ProgramView {
  readonly id: ProgramId;
  readonly tenant: TenantId;
  /** Best queue of its active calls, 0 first; without any, the queue that its next call would enter now. */
  readonly level: number;
  /** Whether all of its active calls, of which there are some, are background calls. */
  readonly background: boolean;
  readonly serviceMs: Millis;
  /** Sum of the waits of all its calls, including present ones. */
  readonly waitingMs: Millis;
  /** Longest wait of one call so far. */
  readonly waitMsMax: Millis;
  /** The live engine of its long calls. */
  readonly home: EngineId | undefined;
  /** Engines that now run its calls. */
  readonly engines: readonly EngineId[];
  readonly threads: readonly ThreadView[];
  readonly activeCalls: number;
  readonly callsTotal: number;
  readonly promotions: number;
  readonly contextTokens: Tokens;
  /** Tokens of its contexts that its home has on the host, by our estimate. */
  readonly onHostTokens: Tokens;
  readonly promptTokens: Tokens;
  readonly cachedTokens: Tokens;
  readonly outputTokens: Tokens;
  readonly createdAtMs: Millis;
  readonly lastArrivalAtMs: Millis;
  readonly lastCompletionAtMs: Millis | undefined;
  /** The last dispatch of one of its calls. */
  readonly lastDispatch: Dispatch | undefined;
  /** Undefined: nothing is foreseen. */
  readonly forecast: ForecastView | undefined;
}

/** A program without an active call. */
export interface IdleProgram {
  readonly program: ProgramId;
  readonly idleSinceMs: Millis;
  /** From its first arrival to its last completion. */
  readonly durationMs: Millis;
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
  return { source: 'learnt', remainingMs: type.index.lastMsToEnd(serviceMs), used: true };
}

export function programView(row: Program, policy: Policy, nowMs: number): ProgramView {
  const threads = row.activeCalls.toSorted((a, b) => a.seq - b.seq).map((call) => threadView(call, nowMs));
  const running = threads.flatMap((thread) => (thread.state === 'running' && thread.engine ? [thread.engine] : []));
  const background = threads.length > 0 && threads.every((thread) => thread.background);
  const waitingNow = row.activeCalls.reduce((sum, call) => sum + call.waitingMs(nowMs) - call.waitedMs, 0);
  return {
    id: row.id,
    tenant: row.tenant,
    level: Math.min(...(threads.length > 0 ? threads : [policy.stand({ serviceAtArrivalMs: row.serviceMs, arrivedAtMs: nowMs }, row, nowMs)]).map(({ level }) => level)), // prettier-ignore
    background,
    serviceMs: row.serviceMs as Millis,
    waitingMs: (row.waitingMs + waitingNow) as Millis,
    waitMsMax: threads.reduce((most, thread) => Math.max(most, thread.waitingMs), row.waitMsMax) as Millis,
    home: row.home?.id,
    engines: [...new Set(running)],
    threads,
    activeCalls: threads.length,
    callsTotal: row.callsTotal,
    promotions: row.promotions,
    contextTokens: row.contextTokens as Tokens,
    onHostTokens: (row.home?.workingSet.contents.onHostTokensOf(row) ?? 0) as Tokens,
    promptTokens: row.promptTokens as Tokens,
    cachedTokens: row.cachedTokens as Tokens,
    outputTokens: row.outputTokens as Tokens,
    createdAtMs: row.createdAtMs as Millis,
    lastArrivalAtMs: row.lastArrivalAtMs as Millis,
    lastCompletionAtMs: row.lastCompletionAtMs as Millis | undefined,
    lastDispatch: row.lastDispatch,
    forecast: forecastOf(row, policy),
  };
}
