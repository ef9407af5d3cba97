import type { Call } from '../programs/call.js';
import type { Engine } from '../engines/engine.js';
import type { TenantView } from '../programs/accounts.js';
import { durationMsOf } from '../programs/accounting.js';
import type { ProcessTable, Program } from '../programs/process-table.js';
import type { Policy } from '../policies/policy.js';
import { WAIT_CAUSES, type WaitCause } from '../placement/waits.js';
import type { Dispatch } from '../protocol/events.js';
import type { CallId, EngineId, Millis, ModelId, ProgramId, TenantId, Tokens } from '../protocol/units.js';
import { demandView, recordView, type EngineDemand, type ProgramRecord } from './shared-views.js';
import { callViews, causes, waitViews, type CallView, type Moment, type Placed, type WaitView } from './wait-views.js';

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
  /** Contexts that count, and those of them that are idle, kept for a return. */
  readonly workingSetTokens: Tokens;
  readonly idleTokens: Tokens;
  readonly capacityTokens: Tokens | undefined;
  /** Most tokens of contexts in use, and of these and the idle ones that count; Infinity: no gate. */
  readonly gateTokens: number;
  readonly restTokens: number;
  /** Capacity of its host memory, and the tokens of contexts there that are not in the KV cache, by our estimate. */
  readonly hostTokens: Tokens;
  readonly onHostTokens: Tokens;
  readonly reservedFor: CallId | undefined;
  /** The same of all gateways that share it, as last heard. */
  readonly whole: {
    readonly window: number;
    readonly inFlight: number;
    readonly workingSetTokens: Tokens;
  };
}

export interface QueueView {
  readonly waiting: number;
  /** Number of waiting calls by level, an entry for each queue of the policy. */
  readonly byLevel: readonly number[];
  /** Number of waiting calls by cause; every cause is there. */
  readonly byCause: Readonly<Record<WaitCause, number>>;
  readonly longestWaitMs: Millis;
}

/** The parts of a scheduler that its views read. */
interface State {
  readonly placement: Placed & { readonly waiting: number; readonly waitingOf: (tenant: TenantId) => number };
  readonly stepMs: number;
  readonly table: ProcessTable;
  readonly policy: Policy;
  readonly balancer: string;
  readonly calls: ReadonlyMap<CallId, Call>;
  readonly ghosts: number;
}

/** Read-only pictures of a scheduler, each made on demand: as of its last step, or of a later time. */
export class Views {
  readonly #state: () => State;
  readonly #nowMs: number;

  constructor(state: () => State, nowMs = -Infinity) {
    this.#state = state;
    this.#nowMs = nowMs;
  }

  /** The same pictures at a time since the last step, which durations count up to. A time before it counts as it. */
  at(now: Millis): Views {
    return new Views(this.#state, now);
  }

  #read(): State & Moment {
    const state = this.#state();
    return { ...state, nowMs: Math.max(state.stepMs, this.#nowMs) };
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

  /** Engine time that a program is expected to need yet; undefined: nothing is foreseen. O(1). */
  forecast(id: ProgramId): ForecastView | undefined {
    const { table, policy } = this.#read();
    return forecastOf(table.get(id), policy);
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

  /** This gateway's part and demand of each engine, in order of joining. */
  demands(): EngineDemand[] {
    const { placement, stepMs } = this.#read();
    return [...placement.engineTable.engines.values()].map((engine) => demandView(engine, placement, stepMs));
  }

  /** The facts by which another gateway can run the program's next calls; undefined: it is unknown here. */
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
    return this.#state().placement.waiting;
  }

  /** Number of the tenant's calls in the queues. O(1). */
  waitingOf(tenant: TenantId): number {
    return this.#read().placement.waitingOf(tenant);
  }

  /** Engine time of each tenant; none where tenants are not told apart. O(tenants). */
  tenants(): TenantView[] {
    return this.#read().placement.accounts.views();
  }

  /** Number of calls that left the queue and whose place is kept for a retry. */
  get ghosts(): number {
    return this.#read().ghosts;
  }

  /** An active call, and why it waits. O(waiting calls). */
  call(id: CallId): CallView | undefined {
    const state = this.#read();
    const call = state.calls.get(id);
    return call && callViews([call], state).get(id);
  }

  /**
   * The first active calls of a program and why they wait, in order of arrival; of one step, in the order of its events.
   * A call that took over an earlier one's place has its arrival. O(waiting calls).
   */
  callsOf(id: ProgramId, most: number): ReadonlyMap<CallId, CallView> {
    const state = this.#read();
    const calls = state.table.get(id)?.activeCalls.toSorted((a, b) => a.seq - b.seq) ?? [];
    return callViews(calls.slice(0, most), state);
  }

  /** Why each waiting call waits; good until the next step. O(calls x engines + waiting calls x log). */
  waits(): IterableIterator<[CallId, WaitView]> {
    const state = this.#read();
    return waitViews(state.calls.values(), state);
  }

  /** The cause of each of these calls that waits. O(calls x engines). */
  causesOf(ids: readonly CallId[]): ReadonlyMap<CallId, WaitCause> {
    const state = this.#read();
    const calls = ids.flatMap((id) => state.calls.get(id) ?? []);
    return new Map([...causes(calls, state)].map(([{ id }, cause]) => [id, cause]));
  }

  /** The waiting calls, counted. O(calls in the system x engines). */
  queue(): QueueView {
    const state = this.#read();
    const byLevel = new Array<number>(state.policy.levels).fill(0);
    const byCause = Object.fromEntries(WAIT_CAUSES.map((cause) => [cause, 0])) as Record<WaitCause, number>;
    let waiting = 0;
    let longest = 0;
    for (const [call, cause] of causes(state.calls.values(), state)) {
      waiting += 1;
      byLevel[call.level] = (byLevel[call.level] ?? 0) + 1;
      byCause[cause] += 1;
      longest = Math.max(longest, call.waitingMs(state.nowMs));
    }
    return { waiting, byLevel, byCause, longestWaitMs: longest as Millis };
  }
}

function forecastOf(row: Program | undefined, { foresees = false, learns = false }: Policy): ForecastView | undefined {
  if (row === undefined) return undefined;
  const { serviceMs, outlook, type } = row;
  const declaredMs = outlook?.declaredMs(serviceMs);
  if (declaredMs !== undefined) return { source: 'declared', remainingMs: declaredMs, used: foresees };
  if (!learns || !type.index.isLearnt) return undefined;
  return { source: 'learnt', remainingMs: type.index.lastMsToEnd(serviceMs), used: true };
}

function programView({ policy, nowMs }: State & Moment, row: Program): ProgramView {
  const threads = row.activeCalls.toSorted((a, b) => a.seq - b.seq).map((call) => threadView(call, nowMs));
  const running = threads.flatMap((thread) => (thread.state === 'running' && thread.engine ? [thread.engine] : []));
  const waitingNow = row.activeCalls.reduce((sum, call) => sum + call.waitingMs(nowMs) - call.waitedMs, 0);
  return {
    id: row.id,
    tenant: row.tenant,
    level: policy.stand({ serviceAtArrivalMs: row.serviceMs, arrivedAtMs: nowMs }, row, nowMs).level,
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

function engineView({ policy, stepMs, placement }: State, found: Engine): EngineView {
  const { gate } = placement.rules.config.admission;
  return {
    id: found.id,
    state: found.state,
    probation: found.probation,
    resting: stepMs < found.rests.untilMs,
    window: policy.admits ? found.limitSize : Infinity,
    inFlight: found.inFlight,
    pinned: found.bound.size,
    workingSetTokens: found.workingSet.workingSetTokens as Tokens,
    idleTokens: (found.workingSet.workingSetTokens - found.workingSet.activeCountedTokens) as Tokens,
    capacityTokens: found.capacityTokens as Tokens | undefined,
    gateTokens: found.gateTokens(gate),
    restTokens: found.restTokens(gate),
    hostTokens: found.hostTokens as Tokens,
    onHostTokens: found.workingSet.contents.onHostTokens as Tokens,
    reservedFor: found.reservedFor?.id,
    whole: {
      window: policy.admits ? found.limit.size : Infinity,
      inFlight: found.inFlightAnywhere,
      workingSetTokens: found.workingSet.anywhereTokens as Tokens,
    },
  };
}
