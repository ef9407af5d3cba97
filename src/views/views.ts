import type { Call } from '../programs/call.js';
import type { Engine } from '../engines/engine.js';
import type { TenantView } from '../programs/accounts.js';
import type { ProcessTable, Program } from '../programs/process-table.js';
import type { Policy } from '../policies/policy.js';
import { WAIT_CAUSES, type WaitCause } from '../placement/waits.js';
import type { CallId, EngineId, Millis, ProgramId, TenantId, Tokens } from '../protocol/units.js';
import {
  forecastOf,
  holderView,
  idleView,
  programView,
  type ForecastView,
  type HolderView,
  type IdleProgram,
  type ProgramView,
} from './program-views.js';
import { demandView, recordView, type EngineDemand, type ProgramRecord } from './shared-views.js';
import { callViews, causes, waitViews, type CallView, type Moment, type Placed, type WaitView } from './wait-views.js';

export type QueueView = Readonly<ReturnType<Views['queue']>>;

interface State {
  readonly placement: Placed;
  readonly stepMs: number;
  readonly table: ProcessTable;
  readonly policy: Policy;
  readonly balancer: string;
  readonly calls: ReadonlyMap<CallId, Call>;
  readonly ghosts: number;
}

/** Read-only pictures of a scheduler, each made on demand: as of its last step, or of a later time. */
export class Views {
  constructor(
    private readonly state: () => State,
    private readonly nowMs = -Infinity,
  ) {}

  /** The same pictures at a time since the last step, which durations count up to. A time before it counts as it. */
  at(now: Millis): Views {
    return new Views(this.state, now);
  }

  #read(): State & Moment {
    const state = this.state();
    return { ...state, nowMs: Math.max(state.stepMs, this.nowMs) };
  }

  /** Every row of the process table, in order of creation. Rows are made one at a time: stop early at no cost. */
  *programs(): IterableIterator<ProgramView> {
    const state = this.#read();
    for (const row of state.table.rows()) yield programView(row, state.policy, state.nowMs);
  }

  /** Idle programs, the latest to fall idle first. Stop early at no cost. */
  *idle(): IterableIterator<IdleProgram> {
    for (let row = this.#read().table.newestIdle; row !== undefined; row = row.olderIdle) yield idleView(row);
  }

  program(id: ProgramId): ProgramView | undefined {
    const state = this.#read();
    const row = state.table.get(id);
    return row && programView(row, state.policy, state.nowMs);
  }

  /** Programs that have left the table before their last call. O(calls). */
  leaving(): ProgramView[] {
    const state = this.#read();
    return leavingIn(state).map((row) => programView(row, state.policy, state.nowMs));
  }

  /** Engine time that a program is expected to need yet; undefined: nothing is foreseen. O(1). */
  forecast(id: ProgramId): ForecastView | undefined {
    const { table, policy } = this.#read();
    return forecastOf(table.get(id), policy);
  }

  get policyName(): string {
    return this.#read().policy.name;
  }

  get balancerName(): string {
    return this.#read().balancer;
  }

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

  /** The programs with calls in flight on an engine. O(calls in flight). */
  holders(id: EngineId): HolderView[] {
    const found = this.#read().placement.engineTable.engines.get(id);
    return [...new Set(Array.from(found?.running ?? [], ({ program }) => program))].map((row) =>
      holderView(row, found),
    );
  }

  /** Number of calls in the queues. O(1). */
  get waiting(): number {
    return this.state().placement.queues.size;
  }

  /** Number of the tenant's calls in the queues. O(1). */
  waitingOf(tenant: TenantId): number {
    return this.#read().placement.queues.of(tenant);
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
    const row = state.table.get(id) ?? leavingIn(state).find((each) => each.id === id);
    const calls = row?.activeCalls.toSorted((a, b) => a.seq - b.seq) ?? [];
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
  queue() {
    const state = this.#read();
    const byLevel = new Array<number>(state.policy.levels).fill(0);
    const byCause = Object.fromEntries(WAIT_CAUSES.map((cause) => [cause, 0])) as Record<WaitCause, number>;
    let waiting = 0;
    let background = 0;
    let longest = 0;
    for (const [call, cause] of causes(state.calls.values(), state)) {
      waiting += 1;
      byLevel[call.level] = (byLevel[call.level] ?? 0) + 1;
      byCause[cause] += 1;
      if (call.isBackground) background += 1;
      else longest = Math.max(longest, call.waitingMs(state.nowMs));
    }
    return {
      waiting,
      /** Those among them that are background calls. */
      background,
      /** Number of waiting calls by level, an entry for each queue of the policy. */
      byLevel,
      /** Number of waiting calls by cause; every cause is there. */
      byCause,
      /** Of calls other than background ones. */
      longestWaitMs: longest as Millis,
    };
  }
}

const leavingIn = ({ calls }: State): Program[] => [
  ...new Set([...calls.values()].flatMap(({ program }) => (program.removed === undefined ? [] : program))),
];

export type EngineView = Readonly<ReturnType<typeof engineView>>;

function engineView({ policy, stepMs, placement }: State, found: Engine) {
  const { gate } = placement.rules.config.admission;
  const { workingSet } = found;
  return {
    id: found.id,
    state: found.state,
    probation: found.probation,
    resting: stepMs < found.rests.untilMs,
    refusedUntilMs: found.rests.refusedUntilMs,
    /** Upper bound on calls in flight; Infinity when the policy admits everything. */
    window: policy.admits ? found.limitSize : Infinity,
    inFlight: found.inFlight,
    /** Of all gateways, but for this one's background calls. */
    othersInFlight: found.inFlightAnywhere - found.batch.backgroundCalls,
    /** Number of calls bound to this engine. */
    pinned: found.bound.size,
    /** Contexts that count, and those of them that are idle, kept for a return. */
    workingSetTokens: workingSet.workingSetTokens as Tokens,
    idleTokens: (workingSet.workingSetTokens - workingSet.inUse.countedTokens) as Tokens,
    capacityTokens: found.capacityTokens as Tokens | undefined,
    /** Most tokens of contexts in use, and of these and the idle ones that count; Infinity: no gate. */
    gateTokens: found.gateTokens(gate),
    restTokens: found.restTokens(gate),
    /** Capacity of its host memory, and the tokens of contexts there that are not in the KV cache, by our estimate. */
    hostTokens: found.hostTokens as Tokens,
    onHostTokens: workingSet.contents.onHostTokens as Tokens,
    reservedFor: found.reservedFor?.id,
    /** The same of all gateways that share it, as last heard. */
    whole: {
      window: policy.admits ? found.limit.size : Infinity,
      inFlight: found.inFlightAnywhere,
      workingSetTokens: workingSet.anywhereTokens as Tokens,
    },
  };
}
