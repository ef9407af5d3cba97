import type { Engine } from '../engines/engine.js';
import type { Key } from '../queues/fit-tree.js';
import type { Family, Reason } from '../protocol/events.js';
import type { AdmissionClass } from '../queues/wait-queue.js';
import type { Program } from './process-table.js';
import type { Timed } from '../queues/timer-heap.js';
import type { CallId, EngineId, ModelId } from '../protocol/units.js';

/**
 * An active call: one thread of its program in Autellix's process table, with its own arrival, waiting and service time.
 *
 *     callArrived ──> waiting ──dispatch──> running ──callFinished / callCancelled / callFailed(lost)──> gone
 *                       ^  │                   │
 *                       │  └─reject, cancel──> gone
 *                       └──callFailed(busy | broken): back to its place, by its first `seq`
 *
 * The scheduler owns the record from `callArrived` until it is gone; it is in at most one queue.
 */
export class Call implements Key, Timed {
  state: 'waiting' | 'running' = 'waiting';

  // Its place in the queues (Key).
  level = 0;
  rank = 0;

  /** Its place among its program's active calls. */
  programIndex = -1;

  // Its place among the timers (Timed).
  heapIndex = -1;
  timerAtMs = 0;

  /** Start of the present wait, and all waiting before it. */
  queuedAtMs: number;
  waitedMs = 0;
  dispatchedAtMs = 0;
  /** Output seen so far of the present attempt. */
  outputTokens = 0;
  attempts = 0;
  retried = false;

  /** The program's attained service on arrival: the priority that the call inherits (ATLAS). */
  serviceAtArrivalMs: number;
  /** The first that its program ever made. */
  isFirst: boolean;
  /** First token of the present attempt. */
  startedAtMs: number | undefined;
  /** Waiting that the starvation window counts beside its own: its chain's before it, less its own before the window. */
  carriedWaitMs: number;
  /** Moved to the front by anti-starvation. */
  promoted = false;
  /** Past `waitMsMax`. */
  overdue = false;

  /** Runs wherever there is room, whatever the balancer would say: overdue, or sent back by a full engine. */
  isUnbound = false;
  /** The engine that broke it last. */
  excluded: Engine | undefined;
  /** The only engine that may run it while it waits; undefined: any that serves the model. */
  boundTo: Engine | undefined;
  /** Waited long enough to leave its engine. */
  isStealable = false;
  /** Has waited `reserveMs`: idle programs' caches must make way for it. */
  isAged = false;
  /** First tokens of its context that others of its family begin with as well (`SharedPrefixes`). */
  sharedTokens = 0;
  /** The size that its context is expected to come to (`ContextForecast`), and the tokens that it counts in a working set. */
  forecastTokens = 0;
  countedTokens = 0;
  /** What it adds to the working set where it waits, and by which rule it is let in (see `lane.ts`). */
  extraTokens = 0;
  admissionClass: AdmissionClass = 'new';
  /** The engine that holds its room free. */
  reservedOn: Engine | undefined;
  /** The engine that runs it. */
  engine: Engine | undefined;

  /** Its client hears comments while it waits: no queue timeout, unless engines keep sending it back. */
  isPatient = false;
  /** When an engine first sent it back. */
  sentBackAtMs = Infinity;
  /** Equal for a repetition of the same request. */
  request: string | undefined;
  /** Calls whose place it took over in turn, and the waiting that came with it: no part of its own queue timeout. */
  returns = 0;
  inheritedWaitMs = 0;
  /** Longer than any engine takes: it went out beside window and gate, to be refused by an engine. */
  isOversized = false;

  constructor(
    readonly id: CallId,
    public seq: number,
    readonly program: Program,
    readonly thread: string,
    readonly model: ModelId,
    /** The only engine that may run it, by the client's wish; undefined: any that serves the model. */
    readonly onlyOn: EngineId | undefined,
    readonly promptTokens: number,
    /** Prompt and reserved output: what it takes of an engine's KV cache. */
    readonly needTokens: number,
    readonly prefix: readonly number[],
    readonly arrivedAtMs: number,
    readonly family?: Family,
  ) {
    this.queuedAtMs = arrivedAtMs;
    this.serviceAtArrivalMs = program.serviceMs;
    this.isFirst = program.callsTotal === 0;
    this.carriedWaitMs = program.waitSincePromotionMs;
  }

  /** Takes the place of a call that has left the queue: its arrival in the order, its waiting and what that has brought. */
  takeOver(ghost: Call): void {
    this.seq = ghost.seq;
    this.serviceAtArrivalMs = ghost.serviceAtArrivalMs;
    this.isFirst = ghost.isFirst;
    // Less than the ghost's where its program was promoted meanwhile.
    this.carriedWaitMs = Math.min(ghost.carriedWaitMs, this.carriedWaitMs - ghost.waitedMs);
    this.promoted = ghost.promoted;
    this.overdue = ghost.overdue;
    this.isAged = ghost.isAged;
    this.waitedMs = ghost.waitedMs;
    this.inheritedWaitMs = ghost.waitedMs;
    this.returns = ghost.returns + 1;
  }

  /** Of a program's first call: prompt tokens beyond its family's shared beginning. None of a later call, which builds on a context. */
  get newPromptTokens(): number {
    return this.isFirst ? Math.max(0, this.promptTokens - this.sharedTokens) : 0;
  }

  /** Why it is placed as it is, once it is. */
  get reason(): Reason {
    if (this.retried) return 'retried';
    if (this.promoted) return 'promoted';
    return this.waitedMs > 0 ? 'queued' : 'direct';
  }

  /** All its waiting up to `now`, W_c. */
  waitingMs(nowMs: number): number {
    return this.state === 'waiting' ? this.waitedMs + nowMs - this.queuedAtMs : this.waitedMs;
  }

  /** Waiting on its chain since its program's last promotion. */
  waitSincePromotionMs(nowMs: number): number {
    return this.waitingMs(nowMs) + this.carriedWaitMs;
  }
}
