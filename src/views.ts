import type { Call } from './call.js';
import type { Engine } from './engine.js';
import type { Program } from './program.js';
import type { Scheduler } from './scheduler.js';
import type { CallId, EngineId, Millis, ModelId, ProgramId, TenantId, Tokens } from './units.js';

/** A row of the process table, for people and metrics. Times are on the driver's clock. */
export interface ProgramView {
  readonly id: ProgramId;
  readonly tenant: TenantId;
  /** Queue that a call of it would enter now, 0 first. */
  readonly level: number;
  readonly serviceMs: Millis;
  /** Waiting of all its calls, those that wait now included. */
  readonly waitingMs: Millis;
  /** Longest wait of one call so far. */
  readonly waitMsMax: Millis;
  /** The live engine that its long calls go to. */
  readonly home: EngineId | undefined;
  /** Engines that run calls of it now. */
  readonly engines: readonly EngineId[];
  readonly threads: readonly ThreadView[];
  readonly activeCalls: number;
  readonly callsTotal: number;
  readonly promotions: number;
  readonly contextTokens: Tokens;
  readonly promptTokens: Tokens;
  readonly cachedTokens: Tokens;
  readonly outputTokens: Tokens;
  readonly createdAtMs: Millis;
  readonly lastArrivalAtMs: Millis;
  readonly lastCompletionAtMs: Millis | undefined;
}

/** An active call: Autellix's thread metadata. */
export interface ThreadView {
  readonly call: CallId;
  /** The sub-agent's own id, '' for the root. */
  readonly thread: string;
  readonly state: 'waiting' | 'running';
  readonly level: number;
  readonly model: ModelId;
  readonly engine: EngineId | undefined;
  readonly arrivedAtMs: Millis;
  readonly waitingMs: Millis;
  readonly serviceMs: Millis;
  readonly startedAtMs: Millis | undefined;
}

export interface EngineView {
  readonly id: EngineId;
  readonly state: 'up' | 'lost' | 'draining';
  readonly probation: boolean;
  readonly resting: boolean;
  /** Most calls in flight; Infinity when the policy admits everything. */
  readonly window: number;
  readonly inFlight: number;
  /** Calls that wait for this engine alone. */
  readonly pinned: number;
  readonly workingSetTokens: Tokens;
  readonly capacityTokens: Tokens | undefined;
  readonly reservedFor: CallId | undefined;
}

export interface QueueView {
  readonly waiting: number;
  /** Waiting calls by level; as long as the policy has queues. */
  readonly byLevel: readonly number[];
  readonly longestWaitMs: Millis;
}

/** Every row of the process table, in order of creation. Rows are made one at a time: stop early at no cost. */
export function* programs(scheduler: Scheduler): IterableIterator<ProgramView> {
  for (const row of scheduler.state.table.rows()) yield programView(scheduler, row);
}

export function program(scheduler: Scheduler, id: ProgramId): ProgramView | undefined {
  const row = scheduler.state.table.get(id);
  return row && programView(scheduler, row);
}

export function programCount(scheduler: Scheduler): number {
  return scheduler.state.table.size;
}

export function engines(scheduler: Scheduler): EngineView[] {
  return [...scheduler.state.floor.roster.engines.values()].map((engine) => engineView(scheduler, engine));
}

export function engine(scheduler: Scheduler, id: EngineId): EngineView | undefined {
  const found = scheduler.state.floor.roster.engines.get(id);
  return found && engineView(scheduler, found);
}

/** O(calls in the system). */
export function queue(scheduler: Scheduler): QueueView {
  const { calls, policy, nowMs } = scheduler.state;
  const byLevel = new Array<number>(policy.levels).fill(0);
  let waiting = 0;
  let longest = 0;
  for (const call of calls.values()) {
    if (call.state !== 'waiting') continue;
    waiting += 1;
    byLevel[call.level] = (byLevel[call.level] ?? 0) + 1;
    longest = Math.max(longest, call.waitingMs(nowMs));
  }
  return { waiting, byLevel, longestWaitMs: longest as Millis };
}

function programView(scheduler: Scheduler, row: Program): ProgramView {
  const { policy, nowMs } = scheduler.state;
  const threads = row.activeCalls.toSorted((a, b) => a.seq - b.seq).map((call) => threadView(call, nowMs));
  const running = threads.flatMap((thread) => (thread.state === 'running' && thread.engine ? [thread.engine] : []));
  const waitingNow = row.activeCalls.reduce((sum, call) => sum + call.waitingMs(nowMs) - call.waitedMs, 0);
  return {
    id: row.id,
    tenant: row.tenant,
    level: policy.stand({ service0Ms: row.serviceMs, arrivedAtMs: nowMs }, row, nowMs).level,
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
    promptTokens: row.promptTokens as Tokens,
    cachedTokens: row.cachedTokens as Tokens,
    outputTokens: row.outputTokens as Tokens,
    createdAtMs: row.createdAtMs as Millis,
    lastArrivalAtMs: row.lastArrivalAtMs as Millis,
    lastCompletionAtMs: row.lastCompletionAtMs as Millis | undefined,
  };
}

function threadView(call: Call, nowMs: number): ThreadView {
  const running = call.state === 'running';
  return {
    call: call.id,
    thread: call.thread,
    state: call.state,
    level: call.level,
    model: call.model,
    engine: (call.engine ?? call.pinned)?.id,
    arrivedAtMs: call.arrivedAtMs as Millis,
    waitingMs: call.waitingMs(nowMs) as Millis,
    serviceMs: (running ? nowMs - call.dispatchedAtMs : 0) as Millis,
    startedAtMs: call.startedAtMs as Millis | undefined,
  };
}

function engineView(scheduler: Scheduler, found: Engine): EngineView {
  const { policy, nowMs } = scheduler.state;
  return {
    id: found.id,
    state: found.state,
    probation: found.probation,
    resting: nowMs < found.restUntilMs,
    window: policy.admits ? found.windowSize : Infinity,
    inFlight: found.inFlight,
    pinned: found.pinned.size,
    workingSetTokens: found.residency.workingSetTokens as Tokens,
    capacityTokens: found.capacityTokens as Tokens | undefined,
    reservedFor: found.reservedFor?.id,
  };
}
