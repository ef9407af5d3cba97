import type { Engine } from '../engines/engine.js';
import type { CallArrived, Dispatch, Family, Reason } from '../protocol/events.js';
import type { AdmissionClass, Waiting } from '../queues/wait-queue.js';
import type { Turn } from './account.js';
import type { Program } from './process-table.js';
import type { Timed } from '../queues/timers.js';
import type { CallId, EngineId, Millis, ModelId } from '../protocol/units.js';

/**
 * An active call, an entry of Autellix's thread metadata: its own arrival, waiting and service time.
 *
 *     callArrived ──> waiting ──dispatch──> running ──callFinished / callCancelled / callFailed(lost | refused)──> gone
 *                       ^  │                   │
 *                       │  └─reject, cancel──> gone
 *                       └──callFailed(busy | unreached | broken): back to its place, by its first `seq`
 *
 * The scheduler owns the record from `callArrived` until it is gone. It is in at most one queue.
 * Fields ending in `Ms` are milliseconds on the driver's clock or durations; those ending in `Tokens` are tokens.
 */
export class Call implements Waiting, Timed {
  state: 'waiting' | 'running' = 'waiting';

  // Order in the queues (Waiting).
  level = 0;
  rank = 0;

  turn!: Turn;

  programIndex = -1;

  // Entry among the timers (Timed).
  timerAtMs = Infinity;

  /** Start of the present wait, and the sum of earlier waits. */
  queuedAtMs: number;
  waitedMs = 0;
  dispatchedAtMs = 0;
  /** Output of the present attempt so far. */
  outputTokens = 0;
  attempts = 0;
  retried = false;

  /** The program's attained service on arrival: the priority that the call inherits (Autellix, ATLAS). */
  serviceAtArrivalMs: number;
  /** Service to expect until its program ends, as of its present wait; the call's weight is the inverse. */
  restMs = 0;
  /** The program's service on the whole, as foreseen on arrival; 0: unknown. */
  expectedTotalMs = 0;
  /** Whether no call of its program had been answered when it arrived. */
  isFirst: boolean;
  /** `Batch.areaTokenMs` of its engine at the start of this attempt, or of its answer. */
  areaAtStart = 0;
  startedAtMs: number | undefined;
  /** Waiting that the starvation window adds: its chain's earlier waiting, less its own before the window. */
  carriedWaitMs: number;
  promoted = false;
  overdue = false;

  /** Runs wherever there is room, without asking the balancer: it is overdue, or a full engine sent it back. */
  isUnbound = false;
  /** Engines that failed it, each once. Unless empty, it is bound or paused: no engine on probation may take it. */
  failedOn: readonly Engine[] = [];
  /** Engines of `failedOn` may run it again from this time on; -Infinity: that time has come. */
  retryAtMs = -Infinity;
  /** Waits until an engine may run it again; no engine looks at it meanwhile. */
  isPaused = false;
  /** Since when engines could not be reached for it; Infinity: the last one could. */
  unreachedAtMs = Infinity;
  /** The only engine that may run it while it waits; undefined: any that serves the model. */
  boundTo: Engine | undefined;
  isStealable = false;
  /** Has waited `reserveMs`: idle contexts make way for it. */
  isAged = false;
  /** Length of the prefix shared with its family (`SharedPrefixes`). */
  sharedTokens = 0;
  /** Predicted size of its context (`kv/context-forecast.ts`), and the tokens that it counts in a working set. */
  forecastTokens = 0;
  countedTokens = 0;
  /** Tokens that it adds to the working set where it waits, and its admission class (`queues/wait-queue.ts`). */
  extraTokens = 0;
  admissionClass: AdmissionClass = 'new';
  /** The engine that keeps room for it. */
  reservedOn: Engine | undefined;
  /** The engine that runs it, and the command that sent it there. */
  engine: Engine | undefined;
  dispatch: Dispatch | undefined;

  /** Takes only room that others leave (`placement/background.ts`). */
  readonly isBackground: boolean;
  /** The objective of its class; Infinity: none. */
  readonly waitMsMax: number;
  /** Its client receives keep-alive comments: no queue timeout, unless engines keep sending it back. */
  readonly isPatient: boolean;
  /** Time at which an engine first sent it back; Infinity: never. */
  sentBackAtMs = Infinity;
  readonly request: string | undefined;
  /** Number of earlier calls whose place it took over, and their waiting, which does not count for its queue timeout. */
  returns = 0;
  inheritedWaitMs = 0;
  /** Longer than any engine takes: it waits and runs without window or gate, so that an engine refuses it. */
  isOversized = false;

  readonly id: CallId;
  readonly thread: string;
  readonly model: ModelId;
  /** The only engine that may run it, by the client's request; undefined: any that serves the model. */
  onlyOn: EngineId | undefined;
  readonly #mayMove: boolean;
  readonly promptTokens: number;
  /** Prompt and reserved output: its share of an engine's KV cache. */
  readonly needTokens: number;
  readonly family: Family | undefined;

  /** @param reserveTokens upper bound on the output that room is kept for */
  constructor(
    event: CallArrived,
    public seq: number,
    readonly program: Program,
    reserveTokens: number,
    readonly arrivedAtMs: number,
  ) {
    this.id = event.call;
    this.thread = event.thread;
    this.model = event.model;
    this.onlyOn = event.engine;
    this.#mayMove = event.mayMove === true;
    this.promptTokens = event.promptTokens;
    this.needTokens = event.promptTokens + Math.min(event.maxTokens ?? Infinity, reserveTokens);
    this.family = event.family;
    this.isPatient = event.patient === true;
    this.isBackground = event.background === true;
    this.waitMsMax = event.waitMsMax ?? Infinity;
    this.request = event.request;
    this.queuedAtMs = arrivedAtMs;
    this.serviceAtArrivalMs = program.serviceMs;
    this.isFirst = program.callsFinished === 0;
    this.carriedWaitMs = program.waitSincePromotionMs;
  }

  /** Takes over the place of a call that left the queue: its order of arrival, its waiting and its escalations. */
  takeOver(ghost: Call): void {
    this.seq = ghost.seq;
    this.serviceAtArrivalMs = ghost.serviceAtArrivalMs;
    this.isFirst = ghost.isFirst;
    // The ghost's value is too large if its program was promoted meanwhile.
    this.carriedWaitMs = Math.min(ghost.carriedWaitMs, this.carriedWaitMs - ghost.waitedMs);
    this.promoted = ghost.promoted;
    this.overdue = ghost.overdue;
    this.isAged = ghost.isAged;
    this.waitedMs = ghost.waitedMs;
    this.inheritedWaitMs = ghost.waitedMs;
    this.returns = ghost.returns + 1;
  }

  sent(nowMs: number): void {
    this.dispatchedAtMs = nowMs;
    this.startedAtMs = undefined;
    this.outputTokens = 0;
  }

  /** The command for it, which it remembers for views. */
  dispatchedTo({ id: engine }: Engine, placement: Dispatch['placement']): Dispatch {
    const { id: call, level, reason } = this;
    const queueMs = this.waitedMs as Millis;
    const inherited = this.returns === 0 ? undefined : { inheritedMs: this.inheritedWaitMs as Millis };
    this.dispatch = { type: 'dispatch', call, engine, level, queueMs, ...inherited, reason, placement };
    return this.dispatch;
  }

  started(nowMs: number): boolean {
    if (this.startedAtMs !== undefined) return false;
    this.startedAtMs = nowMs;
    return true;
  }

  progressed(outputTokens: number): void {
    this.outputTokens = Math.max(this.outputTokens, outputTokens);
  }

  /** An engine broke the attempt. Until `retryAtMs` only others may run it. */
  brokenBy(engine: Engine, retryAtMs: number): void {
    this.attempts += 1;
    if (!this.failedOn.includes(engine)) this.failedOn = [...this.failedOn, engine];
    this.retryAtMs = retryAtMs;
    if (this.#mayMove) this.onlyOn = undefined;
    this.isUnbound = false;
    this.unreachedAtMs = Infinity;
  }

  sentBack(nowMs: number): void {
    this.retried = true;
    this.sentBackAtMs = Math.min(this.sentBackAtMs, nowMs);
    this.queuedAtMs = nowMs;
  }

  /** Prompt tokens beyond its family's shared prefix, of each call before the program's first answer; later ones: 0. */
  get newPromptTokens(): number {
    return this.isFirst ? Math.max(0, this.promptTokens - this.sharedTokens) : 0;
  }

  get reason(): Reason {
    if (this.retried) return 'retried';
    if (this.promoted) return 'promoted';
    return this.waitedMs > 0 ? 'queued' : 'direct';
  }

  /** Its waiting up to `nowMs` in all attempts, W_c. */
  waitingMs(nowMs: number): number {
    return this.state === 'waiting' ? this.waitedMs + nowMs - this.queuedAtMs : this.waitedMs;
  }

  /** Waiting on its chain since its program's last promotion. */
  waitSincePromotionMs(nowMs: number): number {
    return this.waitingMs(nowMs) + this.carriedWaitMs;
  }
}
