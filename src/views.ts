import type { Accuracy } from './foresight/accuracy.js';
import type { Forecast } from './foresight/outlook.js';
import type { NextCall } from './foresight/thread-path.js';
import type { Call } from './programs/call.js';
import type { Engine } from './engines/engine.js';
import type { TenantView } from './programs/accounts.js';
import { durationMsOf } from './programs/accounting.js';
import type { ProcessTable, Program } from './programs/process-table.js';
import type { Placement } from './placement/placement.js';
import type { Policy } from './policies/policy.js';
import type { WaitCause } from './placement/waits.js';
import type { Dispatch } from './protocol/events.js';
import type { CallId, EngineId, Millis, ModelId, ProgramId, TenantId, Tokens } from './protocol/units.js';
import { demandView, recordView, type EngineDemand, type ProgramRecord } from './shared-views.js';
import { callViews, countCauses, waitViews, type CallView, type WaitView } from './wait-views.js';

/** What is left of a program, as foreseen. */
export interface ForecastView extends Forecast {
  /** Whether the policy in force ranks by it. */
  readonly used: boolean;
}

/** A row of the process table, for people and metrics. Times are in milliseconds on the driver's clock. */
export interface ProgramView {
  readonly id: ProgramId;
  readonly tenant: TenantId;
  /** Queue that its next call would enter now, 0 first. */
  readonly level: number;
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
  readonly promptTokens: Tokens;
  readonly cachedTokens: Tokens;
  readonly outputTokens: Tokens;
  /** Warms of its contexts, the tokens that they computed, and those of them that its next calls found cached. */
  readonly warms: number;
  readonly warmedTokens: Tokens;
  readonly usefulTokens: Tokens;
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
  /** Upper bound on calls in flight; Infinity when the policy admits everything. */
  readonly window: number;
  readonly inFlight: number;
  /** Number of calls bound to this engine. */
  readonly pinned: number;
  readonly workingSetTokens: Tokens;
  readonly capacityTokens: Tokens | undefined;
  readonly reservedFor: CallId | undefined;
}

export interface QueueView {
  readonly waiting: number;
  /** Number of waiting calls by level, an entry for each queue of the policy. */
  readonly byLevel: readonly number[];
  readonly longestWaitMs: Millis;
}

/** The parts of a scheduler that its views read. */
interface State {
  readonly placement: Placement;
  readonly table: ProcessTable;
  readonly accuracy: Accuracy;
  readonly policy: Policy;
  readonly balancer: string;
  readonly calls: ReadonlyMap<CallId, Call>;
  readonly ghosts: number;
  readonly nowMs: number;
}

/** Read-only pictures of a scheduler, each made on demand. */
export class Views {
  readonly #read: () => State;

  constructor(read: () => State) {
    this.#read = read;
  }

  /** Every row of the process table, in order of creation. Rows are made one at a time: stop early at no cost. */
  *programs(): IterableIterator<ProgramView> {
    const state = this.#read();
    for (const row of state.table.rows()) yield programView(state, row);
  }

  /** Idle programs, the latest to fall idle first. Stop early at no cost. */
  *idle(): IterableIterator<IdleProgram> {
    for (let row = this.#read().table.newestIdle; row !== undefined; row = row.olderIdle)
      yield { program: row.id, idleSinceMs: (row.idleSinceMs ?? 0) as Millis, durationMs: durationMsOf(row) };
  }

  program(id: ProgramId): ProgramView | undefined {
    const state = this.#read();
    const row = state.table.get(id);
    return row && programView(state, row);
  }

  /** When a program came, and when it is to be done; undefined: it is unknown. O(1). */
  times(id: ProgramId): Pick<Program, 'createdAtMs' | 'deadlineAtMs'> | undefined {
    return this.#read().table.get(id);
  }

  /** Engine time that a program is expected to need yet; undefined: nothing is foreseen. O(1). */
  forecast(id: ProgramId): ForecastView | undefined {
    const { table, policy } = this.#read();
    return forecastOf(table.get(id), policy);
  }

  /** The next call of a program's thread; undefined: it is not foreseen, or one is in flight. O(1). */
  next(id: ProgramId, thread: string, nowMs: number): NextCall | undefined {
    return this.#read().table.get(id)?.outlook?.next(thread, nowMs);
  }

  /** How right forecasts have proved since the start; all zero without foresight. */
  get accuracy(): Pick<Accuracy, 'rests' | 'times' | 'successors' | 'holds'> {
    return this.#read().accuracy;
  }

  /** Name of the policy in force. */
  get policyName(): string {
    return this.#read().policy.name;
  }

  /** Name of the balancer in force. */
  get balancerName(): string {
    return this.#read().balancer;
  }

  /** Number of rows of the process table. */
  get programCount(): number {
    return this.#read().table.size;
  }

  /** In order of joining. */
  engines(): EngineView[] {
    const state = this.#read();
    return [...state.placement.engineTable.engines.values()].map((engine) => engineView(state, engine));
  }

  /** What this gateway has and wants of each engine, in order of joining. */
  demands(): EngineDemand[] {
    const { placement } = this.#read();
    return [...placement.engineTable.engines.values()].map((engine) => demandView(engine, placement));
  }

  /** What another gateway must know to run the program's next calls; undefined: it is unknown here. */
  record(id: ProgramId): ProgramRecord | undefined {
    const row = this.#read().table.get(id);
    return row && recordView(row);
  }

  engine(id: EngineId): EngineView | undefined {
    const state = this.#read();
    const found = state.placement.engineTable.engines.get(id);
    return found && engineView(state, found);
  }

  /** Number of calls in the queues. O(1). */
  get waiting(): number {
    return this.#read().placement.waiting;
  }

  /** Number of the tenant's calls in the queues. O(1). */
  waitingOf(tenant: TenantId): number {
    return this.#read().placement.waitingOf(tenant);
  }

  /** Engine time of each tenant; none where tenants are not told apart. O(tenants²). */
  tenants(): TenantView[] {
    return this.#read().placement.accounts.views();
  }

  /** Number of calls that left the queue and whose place is kept for a retry. */
  get ghosts(): number {
    return this.#read().ghosts;
  }

  /** An active call, and why it waits. O(waiting calls). */
  call(id: CallId): CallView | undefined {
    const { calls, placement, nowMs } = this.#read();
    const call = calls.get(id);
    return call && callViews([call], placement, nowMs).get(id);
  }

  /** The first active calls of a program, in order of arrival, and why they wait. O(waiting calls). */
  callsOf(id: ProgramId, most: number): ReadonlyMap<CallId, CallView> {
    const { table, placement, nowMs } = this.#read();
    const calls = table.get(id)?.activeCalls.toSorted((a, b) => a.seq - b.seq) ?? [];
    return callViews(calls.slice(0, most), placement, nowMs);
  }

  /** Why each waiting call waits; good until the next step. O(calls x engines + waiting calls x log). */
  waits(): IterableIterator<[CallId, WaitView]> {
    const { calls, placement, nowMs } = this.#read();
    return waitViews(calls.values(), placement, nowMs);
  }

  /** Number of waiting calls by cause. O(calls x engines). */
  waitCauses(): Record<WaitCause, number> {
    const { calls, placement, nowMs } = this.#read();
    return countCauses(calls.values(), placement, nowMs);
  }

  /** Waiting calls by level. O(calls in the system). */
  queue(): QueueView {
    const { calls, policy, nowMs } = this.#read();
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
}

function forecastOf(row: Program | undefined, { foresees = false }: Policy): ForecastView | undefined {
  const forecast = row?.outlook?.view(row.serviceMs);
  return forecast && { ...forecast, used: foresees };
}

function programView({ policy, nowMs }: State, row: Program): ProgramView {
  const { fadingTokens, fadingAtMs, outlook } = row;
  const threads = row.activeCalls.toSorted((a, b) => a.seq - b.seq).map((call) => threadView(call, nowMs));
  const running = threads.flatMap((thread) => (thread.state === 'running' && thread.engine ? [thread.engine] : []));
  const waitingNow = row.activeCalls.reduce((sum, call) => sum + call.waitingMs(nowMs) - call.waitedMs, 0);
  return {
    id: row.id,
    tenant: row.tenant,
    level: policy.stand(
      { serviceAtArrivalMs: row.serviceMs, arrivedAtMs: nowMs },
      { fadingTokens, fadingAtMs, outlook },
      nowMs,
    ).level,
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
    warms: row.warms,
    warmedTokens: row.warmedTokens as Tokens,
    usefulTokens: row.usefulTokens as Tokens,
    createdAtMs: row.createdAtMs as Millis,
    lastArrivalAtMs: row.lastArrivalAtMs as Millis,
    lastCompletionAtMs: row.lastCompletionAtMs as Millis | undefined,
    lastDispatch: row.lastDispatch,
    forecast: forecastOf(row, policy),
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
    engine: (call.engine ?? call.boundTo)?.id,
    arrivedAtMs: call.arrivedAtMs as Millis,
    waitingMs: call.waitingMs(nowMs) as Millis,
    serviceMs: (running ? nowMs - call.dispatchedAtMs : 0) as Millis,
    startedAtMs: call.startedAtMs as Millis | undefined,
  };
}

function engineView({ policy, nowMs }: State, found: Engine): EngineView {
  return {
    id: found.id,
    state: found.state,
    probation: found.probation,
    resting: nowMs < found.restUntilMs,
    window: policy.admits ? found.limitSize : Infinity,
    inFlight: found.inFlight,
    pinned: found.bound.size,
    workingSetTokens: found.workingSet.workingSetTokens as Tokens,
    capacityTokens: found.capacityTokens as Tokens | undefined,
    reservedFor: found.reservedFor?.id,
  };
}
