import type { CallId, EngineId, Millis, ModelId, ProgramId, TenantId, Tokens } from './units.js';

/**
 * The facts that a driver gives the scheduler (`Event`), and the scheduler's answers (`Command`).
 * Both are plain data, so that a log of events can be written, read and replayed.
 * No event holds a true output length: a policy knows no more than a live gateway could tell it.
 */
export type Event =
  | CallArrived
  | CallStarted
  | CallProgressed
  | CallFinished
  | CallFailed
  | CallCancelled
  | ProgramEnded
  | ProgramMoved
  | EngineJoined
  | EngineReported
  | EngineLost
  | EngineDrained
  | EngineShared
  | Woke;

/** Whether the call is no more. A command can reject it, too. */
export function endsCall(event: Event): event is Event & { readonly call: CallId } {
  if (event.type === 'callFailed') return event.failure === 'lost' || event.failure === 'refused';
  return event.type === 'callFinished' || event.type === 'callCancelled';
}

interface OfCall<Type extends string> {
  readonly type: Type;
  readonly call: CallId;
}

interface OfEngine<Type extends string> {
  readonly type: Type;
  readonly engine: EngineId;
}

interface OfProgram<Type extends string> {
  readonly type: Type;
  readonly program: ProgramId;
}

/** A call asks for a place. Answered, now or later, by exactly one `dispatch` or `reject` (or it is cancelled). */
export interface CallArrived extends OfCall<'callArrived'> {
  readonly program: ProgramId;
  readonly tenant: TenantId;
  /** A sub-agent's own id inside the program, '' for the root: threads hold separate contexts in the KV cache. */
  readonly thread: string;
  readonly model: ModelId;
  /** The only engine that may run it, such as the one that stores the response it continues; absent: any. */
  readonly engine?: EngineId;
  /** Others may run it, too, once that engine has failed it. */
  readonly mayMove?: true;
  /** Prompt length in tokens, estimated by the driver. */
  readonly promptTokens: Tokens;
  /** The client's own limit on the answer, in tokens; absent when it gave none. */
  readonly maxTokens?: Tokens;
  /** The client gets keep-alive comments and waits without limit: no queue timeout, unless engines send it back. */
  readonly patient?: true;
  /** It takes only room that other calls leave, and no time moves it forward. */
  readonly background?: true;
  /** The objective of its class: after this wait it is overdue, if not before. */
  readonly waitMsMax?: Millis;
  /** Identifies the request: equal when the same tenant repeats it. */
  readonly request?: string;
  readonly retry?: true;
  /** The family of programs that begin alike; absent: unknown, and no prefix is counted as shared. */
  readonly family?: Family;
  /** Work of the rest of the program, this call included, as its client declares it. */
  readonly remaining?: Work;
  /** The program as other gateways know it; absent: no other gateway has had calls of it since this one. */
  readonly elsewhere?: Elsewhere;
}

/** A program as other gateways know it. The larger service and calls count, so order and repeats make no difference. */
export interface Elsewhere {
  readonly serviceMs: Millis;
  readonly calls: number;
  /** The engine of its long calls; absent: none yet. */
  readonly home?: EngineId;
  /** The context of this call's thread, which it left in its home's cache. */
  readonly contextTokens?: Tokens;
  readonly root: RootThread;
}

/** A program's root thread; its context is the one that its last call left. */
export interface RootThread {
  /** Answered calls. */
  readonly calls: number;
  readonly firstPromptTokens: Tokens;
  readonly contextTokens: Tokens;
}

export interface Work {
  /** Prompt tokens that no engine has cached. */
  readonly promptTokens: Tokens;
  readonly outputTokens: Tokens;
}

/** Programs whose prompts begin with the same instructions and tool schemas, which an engine caches once. */
export interface Family {
  /** Hash of the common beginning, without what changes from run to run, such as dates. */
  readonly id: number;
  /** Hash of what all programs of one harness have in common, such as its tools. Absent: unknown. */
  readonly harness?: number;
  /** Length of the common beginning, estimated by the driver: the upper bound of the shared prefix. */
  readonly tokens: Tokens;
}

/** The first token of the answer was seen. */
export type CallStarted = OfCall<'callStarted'>;

export interface CallProgressed extends OfCall<'callProgressed'> {
  /** So far. */
  readonly outputTokens: Tokens;
}

export interface Usage {
  readonly promptTokens: Tokens;
  readonly outputTokens: Tokens;
  /** Prompt tokens served from the engine's prefix cache; absent when the engine does not report them. */
  readonly cachedTokens?: Tokens;
  /** Those of them that came back from host memory; absent when the engine does not tell. */
  readonly hostCachedTokens?: Tokens;
}

export interface CallFinished extends OfCall<'callFinished'> {
  /** Absent when the engine reported none: the estimates of the arrival stand. */
  readonly usage?: Usage;
  /** Execution time by the engine's own clock, without queueing; absent: dispatch to end, less `queueMs`. */
  readonly serviceMs?: Millis;
  /** Time in the engine's own queue; absent when the engine does not report it. */
  readonly queueMs?: Millis;
}

/**
 * A dispatched call did not run to its end.
 * - `busy`: the engine had no room (429, 503). The call goes back to its place, and the engine rests for the calls like it
 *   (`Rests`): at first for `restMs`, then ever longer.
 * - `unreached`: no connection to the engine came about. It rests for `restMs`, and the call goes back to its place.
 * - `refused`: the engine answered that the request is at fault (4xx): the call ends here, charged nothing.
 * - `broken`: the engine failed before the client saw a byte. The call is tried elsewhere, in its place; after `pauseMs`
 *   also on engines that failed it. An engine on probation is never given it.
 * - `lost`: the engine failed after the first byte: the call ends here, charged for its use.
 * Only `lost` leaves anything in the engine's cache.
 */
export type CallFailed = EngineClosed | EngineBroke | Failed<'refused'> | Failed<'lost'>;

interface Failed<Failure extends string> extends OfCall<'callFailed'> {
  readonly failure: Failure;
}

export interface EngineClosed extends Failed<'busy' | 'unreached'> {
  readonly restMs: Millis;
}

export interface EngineBroke extends Failed<'broken'> {
  /** How long engines that failed the call are closed to it; absent: not at all. */
  readonly pauseMs?: Millis;
}

/** The client is gone, or its driver gave up: the call leaves, waiting or running, charged for its use. */
export interface CallCancelled extends OfCall<'callCancelled'> {
  /** The client of a queued call hung up and may ask again: its place is kept for `timeouts.ghostMs`. */
  readonly mayReturn?: true;
}

/** The program has ended. Its running calls finish; the next call with its id is a new program. */
export type ProgramEnded = OfProgram<'programEnded'>;

/** Another gateway runs the program's calls from now on, and counts its contexts: ours count no more. */
export type ProgramMoved = OfProgram<'programMoved'>;

/** An engine takes calls from now on. Sent again, it replaces the engine's data and returns it to service. */
export interface EngineJoined extends OfEngine<'engineJoined'> {
  readonly models: readonly ModelId[];
  /** Upper bound on calls in flight, from config or the engine's `max_num_seqs`; absent: the window adapts. */
  readonly windowMax?: number;
  /** KV cache capacity in tokens; absent: no working-set gate on this engine. */
  readonly capacityTokens?: Tokens;
  /** Host memory for what leaves the KV cache, copies of what is still there included; absent or 0: none. */
  readonly hostTokens?: Tokens;
  /** Tokens a second that come back from there; absent: learnt from calls. */
  readonly hostTokensPerSecond?: number;
  /** Upper bound on prompt and answer together, in tokens (`max_model_len`); absent: unknown. */
  readonly contextTokensMax?: Tokens;
  /** Half-open after a failure: one call at a time, until one was answered or began to be, or it joins without this. */
  readonly probation?: boolean;
  /** Other gateways use it too: a new one takes no call before its first `engineShared`. */
  readonly shared?: true;
  /** It has never been up: calls for its models wait as for a lost engine. */
  readonly down?: true;
}

/** A load report: gauges as last scraped, `preemptions` as a running total. */
export interface EngineReported extends OfEngine<'engineReported'> {
  readonly waiting?: number;
  /** Share of KV blocks in use, 0 to 1. */
  readonly kvUsage?: number;
  readonly preemptions?: number;
}

/** Nothing more is dispatched there. Its waiting calls are placed anew; its running calls still end one by one. */
export interface EngineLost extends OfEngine<'engineLost'> {
  /** Time since its last sign of life, for which nothing is charged; absent: 0. */
  readonly silentMs?: Millis;
}

/** As `engineLost`, but the engine is well: its running calls are expected to finish. */
export type EngineDrained = OfEngine<'engineDrained'>;

/** An engine that other gateways use too: this gateway's part of it, and theirs. Each replaces the one before. */
export interface EngineShared extends OfEngine<'engineShared'> {
  /** Most calls that this gateway may have in flight there; absent: no bound but the window. */
  readonly slots?: number;
  /** Calls of other gateways in flight there, and their load on a step. */
  readonly inFlight: number;
  readonly loadTokens: Tokens;
  /** Sum of the weights of those calls (`weightOf`), per millisecond; absent: 0. */
  readonly weight?: number;
  /** Sums over the times of steps that other gateways have measured (`StepSums`); absent: none were. */
  readonly steps?: readonly number[];
  /** Programs that other gateways have seen end, up to those that make an index learnt; absent: none. */
  readonly ended?: number;
  /** The others' working set there: contexts in use, and claims of idle ones. */
  readonly activeTokens: Tokens;
  readonly claimTokens: Tokens;
  /** Tokens that the others' calls have put into its cache. */
  readonly cachedTokens: Tokens;
  /** Number of other gateways with calls that wait for it, and the best level of those; absent: none does. */
  readonly waitingGateways: number;
  readonly waitingLevel?: number;
}

/** The time of the last `wakeAt` has come. Harmless at any other time. */
export interface Woke {
  readonly type: 'woke';
}

export type Command = Dispatch | Reject | WakeAt | ProgramGone;

/** The reason for a placement, shown to the client. */
export type Reason =
  | 'direct' // it did not wait
  | 'queued' // its turn came
  | 'promoted' // anti-starvation moved it to the front
  | 'retried'; // placed again after an engine failed or was full

export interface Dispatch extends OfCall<'dispatch'> {
  readonly engine: EngineId;
  /** Queue the call ran from, 0 first. */
  readonly level: number;
  /** Time that this request was queued here, in all attempts and in earlier calls whose place it took over. */
  readonly queueMs: Millis;
  /** The part of `queueMs` taken over from earlier calls; absent: it took over no place. */
  readonly inheritedMs?: Millis;
  readonly reason: Reason;
  /** The rule that chose the engine. */
  readonly placement: 'home' | 'bound' | 'spread' | 'spilled';
}

/** The reason why a call ended without an answer. */
export type Refusal =
  | 'queue_full' // the queue, or this tenant's share of it, is at its limit
  | 'queue_timeout' // waited longer than allowed
  | 'overloaded' // would surely wait longer than allowed, retries included
  | 'no_engine' // no engine serves the model, or none was up or could be reached for too long
  | 'attempts_exhausted'; // engines failed it too often

export interface Reject extends OfCall<'reject'> {
  readonly refusal: Refusal;
  /** Time until the client should ask again, estimated: with `overloaded`, and with `queue_full` where known. */
  readonly retryAfterMs?: Millis;
}

/** Send `woke` at this time; replaces the `wakeAt` before it. */
export interface WakeAt {
  readonly type: 'wakeAt';
  readonly at: Millis;
}

/** A program has left the process table, and all its calls have ended. For drivers to count it and to forget it. */
export interface ProgramGone extends OfProgram<'programGone'> {
  /** `ended`: announced. `expired`: idle for its lease. `evicted`: idle, and the table needed the row. */
  readonly cause: 'ended' | 'expired' | 'evicted';
  readonly calls: number;
  readonly serviceMs: Millis;
  readonly waitingMs: Millis;
  /** From its first arrival to its last completion. */
  readonly durationMs: Millis;
}
