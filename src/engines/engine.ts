import type { Call } from '../programs/call.js';
import type { SchedulerConfig } from '../config.js';
import type { CallFinished, EngineJoined, EngineReported, EngineShared } from '../protocol/events.js';
import { WaitQueue, type Headroom } from '../queues/wait-queue.js';
import type { ModelPool } from '../queues/model-pool.js';
import type { Context } from '../kv/context.js';
import { WorkingSet } from '../kv/working-set.js';
import { stepOf, STEPS_PER_HALF_LIFE } from '../policies/idle-steps.js';
import { makeRetention } from '../policies/by-name.js';
import type { EngineId } from '../protocol/units.js';
import { Batch } from './batch.js';
import { ConcurrencyLimit } from './concurrency-limit.js';
import { PrefillMeter } from './prefill-meter.js';
import { Rests } from './rests.js';
import { NO_STEPS, StepTime } from './step-time.js';

/**
 * Share of T* (`learntRetention`) that counts as the worth of a return, by simulations of all policies. Measured prefill
 * times include waiting for other work, and lost room also thins the batch that shares each step's cost.
 */
const HOLDING_SHARE = 0.25;
/**
 * The least worth of a return, as a part of the prefill time of what runs, at most so many half-lives. By T* alone a small
 * cache, which fills in no time, would hold nothing. Its room is dear if few calls run, as each then bears much of a step.
 * Where misses are cheap besides, held calls would wait for nothing (lab/NOTEBOOK.md, "The worth of a return").
 */
const WORTH_OF_RUNNING = 1.5;
const WORTH_HALF_LIVES = 0.2;
/** Steps over which the load is averaged: claims that a lull releases do not come back. */
const LOAD_STEPS = 8;
/** Time of a token from the host, as a share of computing it, until that was told or measured: it is 10 to 30 times less. */
const HOST_PRICE = 1 / 10;
/** Fewest output tokens of an answer from which a step's time is measured. */
const STEPS_MIN = 16;
/** Work of an uncached prompt token in output tokens: a prefill takes many tokens a step. */
const PROMPT_TOKEN_WORK = 1 / 64;

/** Background calls with which an engine begins when it has no others. */
const BACKGROUND_FIRST = 4;

/** The others' part of an engine that only this gateway uses. */
const UNSHARED = { slots: Infinity, inFlight: 0, waitingGateways: 0, waitingLevel: Infinity };

/**
 * One engine replica as the scheduler sees it.
 *
 *     up ──engineLost──> lost ──engineJoined──> up          lost: its waiting calls go elsewhere, its row stays
 *      └──engineDrained──> draining ──last call ends──> removed
 */
export class Engine {
  state: 'up' | 'lost' | 'draining' = 'up';
  /** Number of losses: a binding to an earlier life is void. */
  life = 0;
  /** Half-open: one call at a time until one has begun to be answered, or the driver says that it is well. */
  probation = false;
  /** Rests after "no room", for some calls or for all. */
  rests = new Rests();
  lostAtMs = -Infinity;
  /** Its last sign of life before that. */
  heardAtMs = -Infinity;

  pools: readonly ModelPool[] = [];
  limit: ConcurrencyLimit;
  #windowMax: number | undefined;
  #retention: SchedulerConfig['admission']['retention'];
  capacityTokens: number | undefined;
  /** Capacity of its host memory, and the time of a token from there by its own word. */
  hostTokens = 0;
  #toldMsPerToken: number | undefined;
  #hostGate = 0;
  /** Longest prompt and answer that it takes; undefined: unknown. */
  contextTokensMax: number | undefined;
  readonly workingSet: WorkingSet;
  readonly #prefill = new PrefillMeter();
  readonly batch = new Batch();
  readonly stepTime = new StepTime();
  /** Mean load of the batch, and the step in which that was read. */
  #meanTokens = 0;
  #loadStep = 0;
  readonly running = new Set<Call>();
  /** Tokens of running and of bound calls, for load balancing. */
  loadTokens = 0;
  others = UNSHARED;
  readonly bound = new WaitQueue<Call>();
  finishedAtMs = -Infinity;
  /** Time from which another aged call may displace idle contexts. */
  evictableAtMs = -Infinity;
  /** Most background calls while it has no others: it grows with each that finishes, so that few ever queue there. */
  backgroundMax = BACKGROUND_FIRST;
  /** The last background call that started beside others, until the next one may; undefined: it may. */
  paced: { readonly atMs: number; readonly prefillMs: number } | undefined;
  /** Whether placement looks at it next (`Placement.touch`). */
  touched = false;
  /** An aged call that waits for room here: no later call may take the room. */
  reservedFor: Call | undefined;

  constructor(
    readonly id: EngineId,
    /** Order of joining: breaks every tie between engines. */
    readonly index: number,
    config: SchedulerConfig['admission'],
    joined: EngineJoined,
  ) {
    this.#windowMax = joined.windowMax;
    this.limit = new ConcurrencyLimit(config, joined.windowMax);
    if (joined.shared === true) this.others = { ...UNSHARED, slots: 0 };
    this.#retention = config.retention;
    this.workingSet = new WorkingSet(makeRetention(config.retention));
  }

  /** Applies the facts of `engineJoined`, except its pools. */
  join(config: SchedulerConfig['admission'], joined: EngineJoined): void {
    // A lost engine has started anew. Any other engine that said "no room" still rests.
    if (this.state === 'lost') this.rests = new Rests();
    this.state = joined.down === true ? 'lost' : 'up';
    this.probation = joined.probation ?? false;
    this.capacityTokens = joined.capacityTokens;
    const { hostTokens = 0, hostTokensPerSecond = 0 } = joined;
    this.hostTokens = hostTokens;
    this.#toldMsPerToken = hostTokensPerSecond > 0 ? 1000 / hostTokensPerSecond : undefined;
    this.contextTokensMax = joined.contextTokensMax;
    this.workingSet.contents.capacityTokens = joined.capacityTokens ?? Infinity;
    this.#windowMax = joined.windowMax;
    this.configure(config);
  }

  /** Applies new settings. The window and retention keep their memory unless their own settings changed. */
  configure(config: SchedulerConfig['admission']): void {
    const besideTokens = this.hostTokens - (this.capacityTokens ?? Infinity);
    this.workingSet.hostTokens = config.hostGate > 0 && besideTokens > 0 ? besideTokens : 0;
    this.#hostGate = config.hostGate;
    if (!this.limit.isMadeOf(config, this.#windowMax)) this.limit = new ConcurrencyLimit(config, this.#windowMax);
    if (config.retention === this.#retention) return;
    this.#retention = config.retention;
    this.workingSet.claims.retention = makeRetention(config.retention);
  }

  leave(state: 'lost' | 'draining', nowMs: number, silentMs: number): void {
    if (this.state === 'up') {
      this.lostAtMs = nowMs;
      this.heardAtMs = nowMs - silentMs;
    }
    this.state = state;
    this.life += 1;
    this.workingSet.clear();
  }

  /** Applies this gateway's part of it, and the others'. Returns the contexts that theirs have evicted. */
  share(event: EngineShared, nowMs: number): Context[] {
    const { slots = Infinity, inFlight, waitingGateways, waitingLevel = Infinity } = event;
    this.others = { slots, inFlight, waitingGateways, waitingLevel };
    this.batch.share(event.loadTokens, event.weight ?? 0, nowMs);
    this.stepTime.share(event.steps ?? NO_STEPS);
    return this.workingSet.share(event);
  }

  report(event: EngineReported): void {
    // If all of its calls outlast the time between two reports, no dispatch has noted that the window is full.
    this.limit.observe(this.inFlightAnywhere);
    this.limit.report(event.waiting, event.kvUsage, event.preemptions);
  }

  began({ isBackground }: Call): void {
    if (!isBackground) this.backgroundMax = BACKGROUND_FIRST;
  }

  /** A call has finished here, and its times tell what the engine can do. */
  finished(call: Call, event: CallFinished, nowMs: number): void {
    this.finishedAtMs = nowMs;
    if (call.isBackground) this.backgroundMax += 1;
    // Beside the window and the batch, its time and its work are no measure of either.
    if (call.isOversized) return;
    const { usage } = event;
    const { promptTokens, outputTokens } = usage ?? call;
    const work = outputTokens + (promptTokens - (usage?.cachedTokens ?? 0)) * PROMPT_TOKEN_WORK;
    this.limit.completed({ dispatchedAtMs: call.dispatchedAtMs, endedAtMs: nowMs, work }, this.inFlightAnywhere);
    this.#prefill.finished(call.dispatchedAtMs, call.startedAtMs, event, this.workingSet.loadedTokens(call));
    this.#observeSteps(call, event, nowMs);
  }

  /** The first token of a call's answer: the time between tokens counts from here. */
  started(call: Call, nowMs: number): void {
    if (call.started(nowMs)) call.areaAtStart = this.batch.areaTokenMs(nowMs);
  }

  /** Without a stream, the prefill time is estimated and subtracted. */
  #observeSteps(call: Call, { usage, queueMs }: CallFinished, nowMs: number): void {
    if (usage === undefined || usage.outputTokens < STEPS_MIN) return;
    const fromMs = call.startedAtMs ?? call.dispatchedAtMs;
    const elapsedMs = nowMs - fromMs;
    const prefillMs = (usage.promptTokens - (usage.cachedTokens ?? 0)) * (this.#prefill.msPerToken ?? 0);
    const decodeMs = call.startedAtMs === undefined ? elapsedMs - (queueMs ?? 0) - prefillMs : elapsedMs;
    if (decodeMs <= 0) return;
    const steps = usage.outputTokens - (call.startedAtMs === undefined ? 0 : 1);
    this.stepTime.observe(decodeMs / steps, (this.batch.areaTokenMs(nowMs) - call.areaAtStart) / elapsedMs);
  }

  /** Lets idle contexts fade up to `nowMs`. @param prefillMs prefill time of a token, used until it was measured */
  settle(nowMs: number, halfLifeMs: number, prefillMs: number): void {
    const { workingSet } = this;
    const { computed, loaded } = this.prices(prefillMs);
    const savedMs = workingSet.hostTokens > 0 ? Math.max(0, computed - loaded) : computed;
    const fillMs = ((this.capacityTokens ?? 0) + workingSet.hostTokens) * savedMs;
    const leastMs = WORTH_OF_RUNNING * this.#meanLoadTokens(stepOf(nowMs, halfLifeMs)) * savedMs;
    const least =
      workingSet.claims.retention.isByFillAlone === true ? 0 : Math.min(WORTH_HALF_LIVES * halfLifeMs, leastMs);
    const worthMs = Math.max(least, HOLDING_SHARE * fillMs);
    workingSet.settle(nowMs, halfLifeMs, Math.round((worthMs * STEPS_PER_HALF_LIFE) / halfLifeMs));
  }

  #meanLoadTokens(step: number): number {
    const share = Math.min(1, Math.abs(step - this.#loadStep) / LOAD_STEPS);
    this.#meanTokens += share * (this.batch.loadTokens - this.#meanTokens);
    this.#loadStep = step;
    return this.#meanTokens;
  }

  /** Milliseconds until a token of a prompt is in the KV cache. @param prefillMs used until it was measured */
  prices(prefillMs: number): { readonly computed: number; readonly loaded: number } {
    const computed = this.#prefill.msPerToken ?? prefillMs;
    return { computed, loaded: this.#prefill.hostMsPerToken ?? this.#toldMsPerToken ?? HOST_PRICE * computed };
  }

  get inFlight(): number {
    return this.running.size;
  }

  /** Calls in flight there, those of other gateways included: what the window bounds. */
  get inFlightAnywhere(): number {
    return this.running.size + this.others.inFlight;
  }

  /** Most calls that this gateway may have in flight there. On probation too it needs a slot: others may try it as well. */
  get limitSize(): number {
    return Math.min(this.probation ? 1 : this.limit.size, this.others.slots);
  }

  /** Share of the gate that contexts in use and claims take; above 1 while idle contexts are in the host's memory alone. */
  takenShare(gate: number): number {
    return this.workingSet.anywhereTokens / this.gateTokens(gate);
  }

  /** An aged call displaces idle contexts: the next may after `turnMs`, for each gateway whose calls wait. */
  noteDisplacement(nowMs: number, turnMs: number): void {
    this.evictableAtMs = nowMs + turnMs * (1 + this.others.waitingGateways);
  }

  /** Whether no rest holds all calls, and it is in service. */
  isOpen(nowMs: number): boolean {
    return this.state === 'up' && nowMs >= this.rests.untilMs;
  }

  /** Upper bound on contexts in use, in tokens. Without a gate or with unknown capacity: no bound. */
  gateTokens(gate: number): number {
    return gate === 0 || this.capacityTokens === undefined ? Infinity : gate * this.capacityTokens;
  }

  /**
   * Upper bound on the working set in tokens. On an engine whose host holds more than its KV cache, and gives it back sooner
   * than it computes it, idle contexts may be there. The host has copies of what is in the KV cache, so they do not add up.
   */
  restTokens(gate: number): number {
    const gateTokens = this.gateTokens(gate);
    if (this.workingSet.hostTokens === 0) return gateTokens;
    const { msPerToken = Infinity, hostMsPerToken = this.#toldMsPerToken ?? 0 } = this.#prefill;
    return hostMsPerToken < msPerToken ? Math.max(gateTokens, this.#hostGate * this.hostTokens) : gateTokens;
  }

  /**
   * Room within the gate at `nowMs`. An empty engine has room for anything, so that nothing can deadlock. Returning
   * calls may displace idle contexts; an aged call may too, but no sooner than `turnMs` after the last. A newcomer may
   * send idle contexts to the host only while no call waits to return: more residents than run would only move to and fro.
   */
  headroom(gate: number, nowMs: number): Headroom {
    const isEmpty = this.inFlightAnywhere === 0;
    const { runningAnywhereTokens, anywhereTokens } = this.workingSet;
    const whole = (isEmpty ? Infinity : this.gateTokens(gate)) - runningAnywhereTokens;
    const mostTokens = this.bound.residents > 0 ? this.gateTokens(gate) : this.restTokens(gate);
    const spare = Math.min(whole, (isEmpty ? Infinity : mostTokens) - anywhereTokens);
    return { resident: whole, aged: nowMs >= this.evictableAtMs ? whole : spare, new: spare };
  }
}
