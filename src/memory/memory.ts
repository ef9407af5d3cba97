import { LRUCache } from 'lru-cache';
import type { Engine } from '../engines/engine.js';
import type { Placement } from '../placement/placement.js';
import type { Call } from '../programs/call.js';
import { typeName } from '../programs/agent-types.js';
import type { Program } from '../programs/process-table.js';
import type { MemoryMoved, Usage } from '../protocol/events.js';
import type { EngineId, Tokens } from '../protocol/units.js';
import type { Step } from '../step.js';
import { nextStepMs } from '../policies/idle-steps.js';
import { IdleThread } from './idle-thread.js';
import { Prefetch } from './prefetch.js';
import { Worth } from './worth.js';

/** Share of an engine's slots in use from which no warm begins: a call is likely to take its slot before it is done. */
const BUSY_SHARE = 0.5;
/** Idle threads remembered, the last used. */
const THREADS_MAX = 65_536;
/** Agent types whose warms are judged, the last used. */
const TYPES_MAX = 1024;

/** Running totals of warms, in commands and in prompt tokens that engines computed for them. */
export interface MemoryTotals {
  warms: number;
  cancelled: number;
  failed: number;
  warmedTokens: number;
  /** Of these: found in the cache by the thread's next call, and not found or never asked for. */
  usefulTokens: number;
  wastedTokens: number;
}

/** A warm, from its command to its outcome. */
interface Warming {
  readonly engine: Engine;
  readonly idle: IdleThread;
  isCancelled: boolean;
}

/**
 * Warms: contexts that have left an engine's cache are computed again just before their threads return.
 *
 * A warm is no call. It takes a slot and room under the gate that no waiting call can use, and placement does not see
 * it. A call that needs either ends it. It is charged to no program. It runs its own program's prompt only.
 */
export class Memory {
  readonly totals: MemoryTotals = {
    warms: 0,
    cancelled: 0,
    failed: 0,
    warmedTokens: 0,
    usefulTokens: 0,
    wastedTokens: 0,
  };
  readonly #prefetch = new Prefetch();
  readonly #threads = new Map<Program, Map<string, IdleThread>>();
  /** All of them, the longest unused first. */
  readonly #byUse = new Set<IdleThread>();
  /** One warm at a time on each engine, as it shares the prefill with calls. */
  readonly #warmings = new Map<EngineId, Warming>();
  /** By agent type. */
  readonly #worths = new LRUCache<string, Worth>({ max: TYPES_MAX });
  #seq = 0;

  constructor(
    private readonly placement: Pick<Placement, 'rules' | 'warmed'>,
    private readonly step: Step,
  ) {}

  /** Time of the next change that needs no event; Infinity when only events can. Contexts that fade make room. */
  get nextChangeMs(): number {
    const { halfLifeMs } = this.placement.rules.config.admission;
    const roomAtMs = this.#prefetch.hasDue ? nextStepMs(this.step.nowMs, halfLifeMs) : Infinity;
    return Math.min(this.#prefetch.nextAtMs, roomAtMs);
  }

  /** A call arrives: its thread is idle no longer. */
  called({ program, thread }: Call): void {
    const idle = this.#threads.get(program)?.get(thread);
    if (idle === undefined) return;
    this.#prefetch.forget(idle);
    this.#cancel(idle);
  }

  /** The call has its answer: its thread is idle, unless another of its calls is active (`#takes`). */
  finished(call: Call, engine: Engine, usage: Usage | undefined): void {
    const before = this.#threads.get(call.program)?.get(call.thread);
    if (before !== undefined) this.#drop(before, before.foundTokens(engine, usage));
    if (!this.#isOn) return;
    const idle = new IdleThread(call, usage?.promptTokens ?? call.promptTokens, this.#seq++);
    this.#add(idle);
    this.#expect(idle);
  }

  /** More is known of the thread's return. */
  told(program: Program | undefined, thread: string): void {
    const idle = program && this.#threads.get(program)?.get(thread);
    if (idle !== undefined) this.#expect(idle);
  }

  /** The outcome of a warm. */
  moved({ engine: id, program, thread, ok, tokens }: MemoryMoved): void {
    const warming = this.#warmings.get(id);
    if (warming?.idle.program.id !== program || warming.idle.thread !== thread) return;
    this.#warmings.delete(id);
    const { engine, idle, isCancelled } = warming;
    this.totals.warmedTokens += tokens;
    idle.program.warmedTokens += tokens;
    if (idle.isOver) this.totals.wastedTokens += tokens;
    else idle.warmedTokens += tokens;
    if (isCancelled) return;
    idle.state = ok ? 'warm' : 'idle';
    if (ok) this.placement.warmed(idle, engine);
    else this.totals.failed += 1;
  }

  /** The program is over. */
  forget(program: Program): void {
    for (const idle of this.#threads.get(program)?.values() ?? []) this.#drop(idle);
  }

  /** Once no waiting call has room: ends the warms that no longer have, and begins those that are due and have. */
  settle(): void {
    if (!this.#isOn) {
      for (const idle of this.#byUse) this.#drop(idle);
      return;
    }
    for (const { engine, idle, isCancelled } of this.#warmings.values()) {
      if (isCancelled || this.#hasRoom(engine, idle)) continue;
      this.#cancel(idle);
      this.#prefetch.again(idle);
    }
    for (const idle of this.#prefetch.dueAt(this.step.nowMs)) {
      const engine = idle.program.home;
      if (engine !== undefined && this.#takes(engine, idle)) this.#begin(idle, engine);
    }
  }

  get #isOn(): boolean {
    return this.placement.rules.config.policy.prefetch === 'on';
  }

  #expect(idle: IdleThread): void {
    const { program, thread, promptTokens } = idle;
    const { msPerPromptToken } = this.placement.rules.config.policy;
    const warmMs = promptTokens * (program.home?.prices(msPerPromptToken).computed ?? msPerPromptToken);
    const { nowMs } = this.step;
    this.#prefetch.expect(idle, program.outlook?.next(thread, nowMs), warmMs, nowMs);
  }

  /** Whether the engine is to compute the thread's context now. */
  #takes(engine: Engine, idle: IdleThread): boolean {
    const { program, thread, model, promptTokens } = idle;
    const { capabilities, pools, bound } = engine;
    if (!capabilities.includes('warm') || this.#warmings.has(engine.id)) return false;
    // Whatever waits here needs the room soon.
    if (bound.size > 0 || pools.some(({ unbound }) => unbound.size > 0)) return false;
    if (engine.inFlight >= engine.limitSize * BUSY_SHARE || !pools.some((pool) => pool.model === model)) return false;
    if (engine.workingSet.get(program, thread) !== undefined) return false;
    if (program.activeCalls.some((call) => call.thread === thread)) return false;
    return this.#hasRoom(engine, idle) && this.#worthOf(idle).pays(promptTokens, this.step.nowMs);
  }

  /** Whether the warm has a slot and room beside the engine's calls. The gate binds it on an empty engine too. */
  #hasRoom(engine: Engine, idle: IdleThread): boolean {
    const { workingSet, capacityTokens, probation } = engine;
    if (!engine.isOpen(this.step.nowMs) || probation || capacityTokens === undefined) return false;
    if (engine.inFlight >= engine.limitSize) return false;
    const gateTokens = Math.min(capacityTokens, engine.gateTokens(this.placement.rules.config.admission.gate));
    return workingSet.anywhereTokens + workingSet.neededTokens(idle, idle.promptTokens) <= gateTokens;
  }

  #worthOf({ program, family }: IdleThread): Worth {
    const name = typeName(family, program.tenant);
    let worth = this.#worths.get(name);
    if (worth === undefined) this.#worths.set(name, (worth = new Worth()));
    return worth;
  }

  #begin(idle: IdleThread, engine: Engine): void {
    this.#prefetch.forget(idle);
    if (idle.worth === undefined) (idle.worth = this.#worthOf(idle)).begun();
    idle.state = 'warming';
    idle.engine = engine;
    idle.attempts += 1;
    this.#warmings.set(engine.id, { engine, idle, isCancelled: false });
    this.totals.warms += 1;
    idle.program.warms += 1;
    this.step.out.push({
      type: 'warm',
      ...placeOf(idle, engine),
      tokens: idle.promptTokens as Tokens,
      reason: 'return',
    });
  }

  /** Ends the thread's warm, if one is in flight. */
  #cancel(idle: IdleThread): void {
    const { state, engine } = idle;
    const warming = engine && this.#warmings.get(engine.id);
    if (state !== 'warming' || warming === undefined) return;
    warming.isCancelled = true;
    idle.state = 'idle';
    this.totals.cancelled += 1;
    this.step.out.push({ type: 'cancelWarm', ...placeOf(idle, warming.engine) });
  }

  #add(idle: IdleThread): void {
    const { program, thread } = idle;
    let threads = this.#threads.get(program);
    if (threads === undefined) this.#threads.set(program, (threads = new Map<string, IdleThread>()));
    threads.set(thread, idle);
    this.#byUse.add(idle);
    if (this.#byUse.size > THREADS_MAX) for (const oldest of this.#byUse) return this.#drop(oldest);
  }

  /** Nothing more is expected of the thread. @param usefulTokens tokens of its warms that its next call found cached */
  #drop(idle: IdleThread, usefulTokens = 0): void {
    const { program, thread } = idle;
    this.#prefetch.forget(idle);
    this.#cancel(idle);
    idle.isOver = true;
    const wastedTokens = idle.warmedTokens - usefulTokens;
    idle.worth?.learn(usefulTokens, wastedTokens, this.step.nowMs);
    this.totals.usefulTokens += usefulTokens;
    this.totals.wastedTokens += wastedTokens;
    program.usefulTokens += usefulTokens;
    this.#byUse.delete(idle);
    const threads = this.#threads.get(program);
    threads?.delete(thread);
    if (threads?.size === 0) this.#threads.delete(program);
  }
}

const placeOf = ({ program, thread }: IdleThread, { id }: Engine) => ({ engine: id, program: program.id, thread });
