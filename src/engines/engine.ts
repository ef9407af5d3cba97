import type { Call } from '../programs/call.js';
import type { SchedulerConfig } from '../config.js';
import type { CallFinished, EngineJoined, EngineReported } from '../protocol/events.js';
import { WaitQueue, type Headroom } from '../queues/wait-queue.js';
import type { ModelPool } from '../queues/model-pool.js';
import { WorkingSet } from '../kv/working-set.js';
import { STEPS_PER_HALF_LIFE } from '../policies/idle-steps.js';
import { makeRetention } from '../policies/retention.js';
import type { EngineId } from '../protocol/units.js';
import { Batch } from './batch.js';
import { ConcurrencyLimit } from './concurrency-limit.js';
import { PrefillMeter } from './prefill-meter.js';
import { StepTime } from './step-time.js';

/**
 * Part of T* (`learntRetention`) that holding a context may cost. Below 1 since measured prefill times include waiting for other
 * work, and since room lost also thins the batch that shares each step's cost; 0.25 by `npm run bench:policies`.
 */
const HOLDING_SHARE = 0.25;
/**
 * What a return is worth at least. A small cache is filled in no time, and by T* alone nothing would be held in it; but an
 * engine that has work for all of its steps gains nothing by one context more, so the room costs less than its share of the
 * engine. Large caches are above this by themselves. By runs on a real engine of 12,800 tokens (docs/EXPERIMENTS.md).
 */
const WORTH_MS_MIN = 4000;
/** Fewest output tokens from which the time of a step is told. */
const STEPS_MIN = 16;
/** Work of an uncached prompt token in output tokens: a prefill takes many tokens a step. */
const PROMPT_TOKEN_WORK = 1 / 64;

/**
 * One engine replica as the scheduler sees it.
 *
 *     up ──engineLost──> lost ──engineJoined──> up          lost: its waiting calls go elsewhere, its row stays
 *      └──engineDrained──> draining ──last call ends──> removed
 */
export class Engine {
  state: 'up' | 'lost' | 'draining' = 'up';
  /** Counts losses: what was bound to an earlier life is bound to nothing. */
  life = 0;
  /** Half-open: one call at a time until one has begun to be answered, or the driver says that it is well. */
  probation = false;
  /** Said "no room": nothing goes there before this time. */
  restUntilMs = -Infinity;
  /** When it last went out of service. */
  lostAtMs = -Infinity;

  pools: readonly ModelPool[] = [];
  limit: ConcurrencyLimit;
  #windowMax: number | undefined;
  capacityTokens: number | undefined;
  /** Longest prompt and answer that it takes; undefined: unknown. */
  contextTokensMax: number | undefined;
  readonly workingSet: WorkingSet;
  readonly #prefill = new PrefillMeter();
  readonly batch = new Batch();
  readonly stepTime = new StepTime();
  readonly running = new Set<Call>();
  /** Context tokens of its running calls, and of the calls that wait for it alone. */
  runningTokens = 0;
  boundTokens = 0;
  /** Calls that wait for this engine alone. */
  readonly bound = new WaitQueue();
  /** Its last finished call. */
  finishedAtMs = -Infinity;
  /** When an aged call may next take the place of idle programs. */
  evictableAtMs = -Infinity;
  /** Whether it is among those that are looked at next (`Placement.touch`). */
  touched = false;
  /** A call that has waited for room here: nothing behind it may take the room. */
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
    this.workingSet = new WorkingSet(makeRetention(config.retention));
  }

  /** Takes what `engineJoined` says; pools apart. */
  join(config: SchedulerConfig['admission'], joined: EngineJoined): void {
    // An engine that was lost has started anew; another that said "no room" is still held to it.
    if (this.state === 'lost') this.restUntilMs = -Infinity;
    this.state = 'up';
    this.probation = joined.probation ?? false;
    this.capacityTokens = joined.capacityTokens;
    this.contextTokensMax = joined.contextTokensMax;
    this.workingSet.capacityTokens = joined.capacityTokens ?? Infinity;
    this.#windowMax = joined.windowMax;
    this.configure(config);
  }

  /** Takes new settings. Window and retention keep what they have learnt unless they are others. */
  configure(config: SchedulerConfig['admission']): void {
    if (!this.limit.isMadeOf(config, this.#windowMax)) this.limit = new ConcurrencyLimit(config, this.#windowMax);
    if (config.retention !== this.workingSet.retention.name)
      this.workingSet.retention = makeRetention(config.retention);
  }

  leave(state: 'lost' | 'draining', nowMs: number): void {
    if (this.state === 'up') this.lostAtMs = nowMs;
    this.state = state;
    this.life += 1;
    this.workingSet.clear();
  }

  report(event: EngineReported): void {
    // Full of calls that all take longer than the time between two reports, it has seen none begin.
    this.limit.observe(this.inFlight);
    this.limit.report(event.waiting, event.kvUsage, event.preemptions);
  }

  /** A call has finished here, and its times tell what the engine can do. */
  finished(call: Call, event: CallFinished, nowMs: number): void {
    this.finishedAtMs = nowMs;
    const { usage } = event;
    const { promptTokens, outputTokens } = usage ?? call;
    const work = outputTokens + (promptTokens - (usage?.cachedTokens ?? 0)) * PROMPT_TOKEN_WORK;
    this.limit.completed({ dispatchedAtMs: call.dispatchedAtMs, endedAtMs: nowMs, work }, this.inFlight);
    this.#prefill.finished(call, event);
    this.#observeSteps(call, event, nowMs);
  }

  /** The first token of a call's answer: the time between tokens counts from here. */
  started(call: Call, nowMs: number): void {
    if (call.started(nowMs)) call.areaAtStart = this.batch.areaTokenMs(nowMs);
  }

  /** Learns the time of a step from the call's answer; of one that was not streamed, from what is left beside its prefill. */
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

  /** Lets idle contexts fade up to `nowMs`. @param prefillMs prefill time of a token until it was measured */
  settle(nowMs: number, halfLifeMs: number, prefillMs: number): void {
    const fillMs = (this.capacityTokens ?? 0) * (this.#prefill.msPerToken ?? prefillMs);
    const worthMs = Math.max(WORTH_MS_MIN, HOLDING_SHARE * fillMs);
    this.workingSet.settle(nowMs, halfLifeMs, Math.round((worthMs * STEPS_PER_HALF_LIFE) / halfLifeMs));
  }

  /** In-flight work and work bound to come, in tokens: what load balancing compares. */
  get loadTokens(): number {
    return this.runningTokens + this.boundTokens;
  }

  get inFlight(): number {
    return this.running.size;
  }

  get limitSize(): number {
    return this.probation ? 1 : this.limit.size;
  }

  /** Whether it takes calls at all now. */
  isOpen(nowMs: number): boolean {
    return this.state === 'up' && nowMs >= this.restUntilMs;
  }

  /** Most tokens that the working set may take. Without a gate or with unknown capacity: no bound. */
  gateTokens(gate: number): number {
    return gate === 0 || this.capacityTokens === undefined ? Infinity : gate * this.capacityTokens;
  }

  /**
   * What the gate has left at `nowMs`. An empty engine has room for anything, so that nothing can deadlock. Returning calls may
   * take the place of idle contexts; so may an aged one, but no sooner than `turnMs` after the last.
   */
  headroom(gate: number, nowMs: number): Headroom {
    const gateTokens = this.running.size === 0 ? Infinity : this.gateTokens(gate);
    const spare = gateTokens - this.workingSet.workingSetTokens;
    const whole = gateTokens - this.workingSet.activeCountedTokens;
    return { resident: whole, aged: nowMs >= this.evictableAtMs ? whole : spare, new: spare };
  }
}
