import type { Call } from './call.js';
import type { SchedulerConfig } from '../config.js';
import type { Engine } from '../engines/engine.js';
import { invariant } from '../invariant.js';
import { AgentTypes } from './agent-types.js';
import type { CallArrived, CallFinished, Elsewhere, ProgramGone, Usage } from '../protocol/events.js';
import * as contextForecast from '../kv/context-forecast.js';
import type { CacheFootprint } from '../kv/context.js';
import { Foresight } from '../foresight/foresight.js';
import { SharedPrefixes } from '../kv/shared-prefixes.js';
import { ProcessTable, type Admitted, type Program } from './process-table.js';
import { ProgramEnds } from './program-ends.js';
import type { Millis } from '../protocol/units.js';

const REST_MS_MAX = 1e12;

/**
 * Each call's service and waiting, charged to its program's row when they end (`policy.charge`):
 *     work:   P.service = P.service + t_c                     all that the program has taken from others
 *     chain:  P.service = max(P.service, c.service0 + t_c)    its longest chain (Autellix, PLAS and ATLAS as one rule)
 * Waiting is kept by the same rule, since the starvation ratio compares the two: a sum over twenty parallel calls against
 * one critical path would promote every fan-out. Promotion empties the window, never the service.
 */
export class Accounting {
  readonly table: ProcessTable;
  readonly ends: ProgramEnds;
  readonly types = new AgentTypes();
  readonly foresight = new Foresight();
  readonly #sharedPrefixes = new SharedPrefixes();

  constructor(private config: SchedulerConfig) {
    this.table = new ProcessTable(config.limits.programsMax);
    this.ends = new ProgramEnds(this.table, this.types.background);
  }

  configure(config: SchedulerConfig): void {
    this.config = config;
    this.table.programsMax = config.limits.programsMax;
  }

  /** Finds or makes the row for a new call. @returns also whether another gateway ran the program's last calls */
  admit(
    { program: id, tenant, family, background }: CallArrived,
    nowMs: number,
  ): Admitted & { readonly isBack: boolean } {
    const isNew = this.table.get(id) === undefined;
    const { row, evicted } = this.table.admit(id, tenant, nowMs);
    if (isNew) row.type = background ? this.types.background : this.types.of(family, tenant);
    const isBack = row.isElsewhere;
    this.ends.wentOn(row, false);
    this.table.wake(row);
    return { row, evicted, isBack };
  }

  moved(program: Program): void {
    this.ends.wentOn(program, true);
    contextForecast.follow(program);
  }

  joinElsewhere(program: Program, { serviceMs, calls, root }: Elsewhere): void {
    // The gateways that gave this service have learnt from it.
    if (Number.isFinite(serviceMs)) program.serviceMs = Math.max(program.serviceMs, serviceMs);
    contextForecast.joined(program, root);
    program.callsTotal = Math.max(program.callsTotal, calls);
    // Calls of sub-agents, which `root` leaves out, show in the service.
    program.callsFinished = Math.max(program.callsFinished, root.calls, program.serviceMs > 0 ? 1 : 0);
  }

  begin(call: Call, { remaining }: Pick<CallArrived, 'remaining'>): void {
    const { program, thread, promptTokens } = call;
    if (thread === '') contextForecast.arrived(program, promptTokens);
    program.begin(call);
    this.foresight.arrived(call, remaining, this.config.policy);
    call.forecastTokens = this.#forecastTokens(call);
    call.sharedTokens = this.#sharedTokens(call);
  }

  /**
   * Service to expect until the call's program ends, in milliseconds: by its agent type, or by all programs where types
   * are not told apart. A declaration counts where it is less: a rest declared too large holds nobody at the knee.
   */
  restMs({ program, serviceAtArrivalMs }: Call): number {
    const { foresight, order } = this.config.policy;
    const declaredMs = foresight === 'none' ? undefined : program.outlook?.declaredMs(serviceAtArrivalMs);
    const { index } = order === 'learnt' ? program.type : this.types.all;
    return Math.min(REST_MS_MAX, declaredMs ?? Infinity, index.msToEnd(serviceAtArrivalMs));
  }

  /** The call has stopped waiting: dispatched, cancelled or refused. */
  waited(call: Call, nowMs: number): void {
    const { program } = call;
    const waitMs = nowMs - call.queuedAtMs;
    call.waitedMs += waitMs;
    call.queuedAtMs = nowMs;
    program.waitingMs += waitMs;
    program.waitMsMax = Math.max(program.waitMsMax, call.waitedMs);
    program.waitSincePromotionMs =
      this.config.policy.charge === 'work'
        ? program.waitSincePromotionMs + Math.min(waitMs, nowMs - program.promotedAtMs)
        : Math.max(program.waitSincePromotionMs, call.waitSincePromotionMs(nowMs));
  }

  /** The call has its answer. Returns the context that it leaves in the engine's cache. */
  finished(call: Call, engine: Engine, event: CallFinished, nowMs: number): CacheFootprint {
    const { program } = call;
    const { usage } = event;
    const promptTokens = usage?.promptTokens ?? call.promptTokens;
    const cachedTokens = usage?.cachedTokens ?? 0;
    const outputTokens = usage?.outputTokens ?? call.outputTokens;
    const elapsedMs = nowMs - call.dispatchedAtMs;
    const timeMs = event.serviceMs ?? elapsedMs - (event.queueMs ?? 0);
    this.#charge(call, Math.max(0, timeMs), nowMs);
    program.lastEngine = engine;
    // After a call that was cancelled or lost, the program may find its own tokens cached.
    const isEvidence = program.callsFinished === 0 && call.serviceAtArrivalMs === 0;
    if (isEvidence && usage?.cachedTokens !== undefined) this.#sharedPrefixes.began(call.family, cachedTokens);
    program.callsFinished += 1;
    program.promptTokens += promptTokens;
    program.cachedTokens += cachedTokens;
    program.outputTokens += outputTokens;
    const contextTokens = promptTokens + outputTokens;
    if (call.thread === '') contextForecast.finished(call, contextTokens, outputTokens, nowMs);
    program.contextTokens = contextTokens;
    return {
      contextTokens,
      cachedTokens: usage?.cachedTokens,
      sharedTokens: this.#sharedTokens(call),
      forecastTokens: this.#forecastTokens(call),
    };
  }

  /** Predicted size of the call's context in tokens; 0, no prediction, for sub-agents, as most are short. */
  #forecastTokens({ program, thread }: Call): number {
    const { forecast } = this.config.admission;
    if (thread !== '' || forecast === 'none') return 0;
    const { growth } = forecast === 'learnt' ? program.type : this.types.all;
    return growth.expectedTokens(program.firstPromptTokens, program.rootWentOn);
  }

  #sharedTokens({ family, promptTokens }: Call): number {
    if (this.config.admission.sharedPrefixes === 'none') return 0;
    return this.#sharedPrefixes.expectedTokens(family, promptTokens);
  }

  /** An engine that is down has given nothing since its last sign of life. */
  abandoned(call: Call, { state, heardAtMs }: Engine, nowMs: number): void {
    const untilMs = state === 'lost' ? heardAtMs : nowMs;
    this.#charge(call, Math.max(0, untilMs - call.dispatchedAtMs), nowMs);
    call.program.outputTokens += call.outputTokens;
  }

  callEnded(call: Call, nowMs: number): Program | undefined {
    const { program } = call;
    program.lastCompletionAtMs = nowMs;
    if (!program.end(call)) return undefined;
    return this.table.rest(program, nowMs) ? program : undefined;
  }

  /** Returns the row when its program has ended, undefined while it still has active calls. */
  remove(row: Program, cause: ProgramGone['cause']): Program | undefined {
    this.table.remove(row, cause);
    return row.hasEnded ? row : undefined;
  }

  /** Programs that have been idle for long are presumed to have ended. */
  presumeEnded(nowMs: number): void {
    this.ends.presume(nowMs, this.config.admission.halfLifeMs);
  }

  /** Removes the longest-idle row when its lease is over, or when the table exceeds a lowered limit. */
  expire(nowMs: number): Program | undefined {
    const row = this.table.oldestIdle;
    if (row === undefined) return undefined;
    const isExpired = this.#leaseEndMs(row) <= nowMs;
    if (!isExpired && this.table.size <= this.table.programsMax) return undefined;
    return this.remove(row, isExpired ? 'expired' : 'evicted');
  }

  /** End of the next lease; Infinity when no row is idle. */
  get nextExpiryMs(): number {
    const row = this.table.oldestIdle;
    return row === undefined ? Infinity : this.#leaseEndMs(row);
  }

  #leaseEndMs(row: Program): number {
    return (row.idleSinceMs ?? Infinity) + this.config.timeouts.leaseMs;
  }

  #charge(call: Call, serviceMs: number, nowMs: number): void {
    const { program, serviceAtArrivalMs } = call;
    const isWork = this.config.policy.charge === 'work';
    const chargedMs = (isWork ? program.serviceMs : serviceAtArrivalMs) + serviceMs;
    const isFinite = Number.isFinite(chargedMs);
    invariant(isFinite, 'attained service is finite');
    const attainedMs = isFinite ? Math.max(program.serviceMs, chargedMs) : program.serviceMs;
    this.ends.served(program, attainedMs, nowMs);
    program.serviceMs = attainedMs;
  }
}

export function goneNotice(row: Program): ProgramGone {
  return {
    type: 'programGone',
    program: row.id,
    cause: row.removed ?? 'ended',
    calls: row.callsTotal,
    serviceMs: row.serviceMs as Millis,
    waitingMs: row.waitingMs as Millis,
    durationMs: durationMsOf(row),
  };
}

/** From a program's first arrival to its last completion. */
export const durationMsOf = ({ createdAtMs, lastCompletionAtMs }: Program): Millis =>
  ((lastCompletionAtMs ?? createdAtMs) - createdAtMs) as Millis;

/** Clamps an engine's report to possible values: no more cached than the prompt, and finite, even in edited logs. */
export function clampUsage(event: CallFinished): CallFinished {
  const { type, call, usage, serviceMs, queueMs } = event;
  return {
    type,
    call,
    ...(serviceMs !== undefined && Number.isFinite(serviceMs) && { serviceMs }),
    ...(queueMs !== undefined && Number.isFinite(queueMs) && { queueMs }),
    ...(usage && Number.isFinite(usage.promptTokens + usage.outputTokens) && { usage: clampCached(usage) }),
  };
}

function clampCached(usage: Usage): Usage {
  const { promptTokens, cachedTokens = 0 } = usage;
  return cachedTokens <= promptTokens ? usage : { ...usage, cachedTokens: promptTokens };
}
