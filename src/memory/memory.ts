import { LRUCache } from 'lru-cache';
import type { Engine } from '../engines/engine.js';
import type { Placement } from '../placement/placement.js';
import type { Call } from '../programs/call.js';
import type { Program } from '../programs/process-table.js';
import type { Command, MemoryMoved, Usage } from '../protocol/events.js';
import type { Tokens } from '../protocol/units.js';
import { WorkingSet } from '../kv/working-set.js';
import { IdleThread } from './idle-thread.js';
import { Prefetch } from './prefetch.js';
import { Worth } from './worth.js';

/** Most warms at a time on one engine: they share its prefill with the calls. */
const WARMS_MAX = 1;
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
  /** Warms in flight, by engine in the order of their beginning. */
  readonly #warming = new Map<Engine, IdleThread[]>();
  /** Warms without an outcome yet, cancelled ones included, by their names. */
  readonly #outstanding = new Map<string, IdleThread>();
  /** By tenant and family. */
  readonly #worths = new LRUCache<string, Worth>({ max: TYPES_MAX });
  #seq = 0;

  /** @param ports `out` receives the commands, `now` is the time of the step */
  constructor(
    private readonly placement: Placement,
    private readonly ports: { readonly out: (command: Command) => void; readonly now: () => number },
  ) {}

  /** Time of the next change that needs no event; Infinity when only events can. Contexts that fade make room. */
  nextChangeMs(): number {
    const { halfLifeMs } = this.placement.rules.config.admission;
    const roomAtMs = this.#prefetch.hasDue ? WorkingSet.nextStepMs(this.ports.now(), halfLifeMs) : Infinity;
    return Math.min(this.#prefetch.nextAtMs, roomAtMs);
  }

  /** A call arrives: its thread is idle no longer. */
  called({ program, thread }: Call): void {
    const idle = this.#threads.get(program)?.get(thread);
    if (idle === undefined) return;
    this.#prefetch.forget(idle);
    if (idle.state === 'warming') this.#cancel(idle);
  }

  /** The call has its answer. The thread is idle, unless others of its calls are active. */
  finished(call: Call, engine: Engine, usage: Usage | undefined): void {
    const { program, thread } = call;
    const before = this.#threads.get(program)?.get(thread);
    if (before !== undefined) this.#judge(before, engine, usage);
    const isAlone = program.activeCalls.every((other) => other === call || other.thread !== thread);
    if (!this.#isOn || !isAlone) return;
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
  moved(event: MemoryMoved): void {
    const name = nameOf(event);
    const idle = this.#outstanding.get(name);
    if (idle === undefined) return;
    this.#outstanding.delete(name);
    this.totals.warmedTokens += event.tokens;
    idle.program.warmedTokens += event.tokens;
    if (idle.isOver) this.totals.wastedTokens += event.tokens;
    else idle.warmedTokens += event.tokens;
    if (idle.state !== 'warming') return;
    const engine = this.#stop(idle);
    idle.state = event.ok ? 'warm' : 'idle';
    if (event.ok) this.placement.warmed(idle, engine);
    else this.totals.failed += 1;
  }

  /** The program is over. */
  forget(program: Program): void {
    for (const idle of this.#threads.get(program)?.values() ?? []) this.#drop(idle);
  }

  /** Ends warms on the engine, the last begun first, until the others fit beside its calls. */
  makeWay(engine: Engine): void {
    const warming = this.#warming.get(engine) ?? [];
    while (warming.length > 0 && !this.#hasRoom(engine, warming)) {
      const idle = warming.at(-1) as IdleThread;
      this.#cancel(idle);
      this.#prefetch.again(idle);
    }
  }

  /** Once no waiting call has room: ends the warms that no longer have, and begins those that are due and have. */
  settle(): void {
    for (const engine of [...this.#warming.keys()]) this.makeWay(engine);
    if (!this.#isOn) return this.#clear();
    for (const idle of this.#prefetch.dueAt(this.ports.now())) {
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
    const warmMs = promptTokens * (program.home?.prefillMsPerToken ?? msPerPromptToken);
    const nowMs = this.ports.now();
    this.#prefetch.expect(idle, program.outlook?.next(thread, nowMs), warmMs, nowMs);
  }

  /** Whether the engine is to compute the thread's context now. */
  #takes(engine: Engine, idle: IdleThread): boolean {
    const { workingSet, capabilities, pools, bound } = engine;
    if (!capabilities.includes('warm') || workingSet.get(idle.program, idle.thread) !== undefined) return false;
    if (!this.#worthOf(idle).pays(idle.promptTokens, this.ports.now())) return false;
    const pool = pools.find(({ model }) => model === idle.model);
    // Whatever waits here needs the room soon.
    if (pool === undefined || bound.size > 0 || pools.some(({ unbound }) => unbound.size > 0)) return false;
    const warming = this.#warming.get(engine) ?? [];
    if (engine.inFlight + warming.length >= engine.limitSize * BUSY_SHARE) return false;
    if (warming.length >= WARMS_MAX || this.#outstanding.has(nameOf(placeOf(engine, idle)))) return false;
    return this.#hasRoom(engine, [...warming, idle]);
  }

  /** Whether these warms have slots and room beside the engine's calls. The gate binds them on an empty engine too. */
  #hasRoom(engine: Engine, warms: readonly IdleThread[]): boolean {
    const { workingSet, capacityTokens, probation } = engine;
    if (!engine.isOpen(this.ports.now()) || probation || capacityTokens === undefined) return false;
    if (engine.inFlight + warms.length > engine.limitSize) return false;
    const gateTokens = Math.min(capacityTokens, engine.gateTokens(this.placement.rules.config.admission.gate));
    const tokens = warms.reduce((sum, idle) => sum + workingSet.neededTokens(idle, idle.promptTokens), 0);
    return workingSet.workingSetTokens + tokens <= gateTokens;
  }

  #worthOf({ program, family }: IdleThread): Worth {
    const name = `${family?.id ?? ''} ${program.tenant}`;
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
    this.#warming.set(engine, [...(this.#warming.get(engine) ?? []), idle]);
    const place = placeOf(engine, idle);
    this.#outstanding.set(nameOf(place), idle);
    this.totals.warms += 1;
    idle.program.warms += 1;
    this.ports.out({ type: 'warm', ...place, tokens: idle.promptTokens as Tokens, reason: 'return' });
  }

  #cancel(idle: IdleThread): void {
    const engine = this.#stop(idle);
    idle.state = 'idle';
    this.totals.cancelled += 1;
    this.ports.out({ type: 'cancelWarm', ...placeOf(engine, idle) });
  }

  /** The warm no longer runs on its engine. */
  #stop(idle: IdleThread): Engine {
    const engine = idle.engine as Engine;
    const warming = this.#warming.get(engine) ?? [];
    warming.splice(warming.indexOf(idle), 1);
    if (warming.length === 0) this.#warming.delete(engine);
    return engine;
  }

  /** The thread has called again: what its warms computed was found in the cache, or not. */
  #judge(idle: IdleThread, engine: Engine, usage: Usage | undefined): void {
    const { warmedTokens, promptTokens } = idle;
    const foundTokens = engine === idle.engine ? (usage?.cachedTokens ?? promptTokens) : 0;
    idle.usefulTokens = Math.max(0, Math.min(warmedTokens, foundTokens - (promptTokens - warmedTokens)));
    this.#drop(idle);
  }

  #add(idle: IdleThread): void {
    const { program, thread } = idle;
    let threads = this.#threads.get(program);
    if (threads === undefined) this.#threads.set(program, (threads = new Map<string, IdleThread>()));
    threads.set(thread, idle);
    this.#byUse.add(idle);
    if (this.#byUse.size > THREADS_MAX) for (const oldest of this.#byUse) return this.#drop(oldest);
  }

  #drop(idle: IdleThread): void {
    const { program, thread } = idle;
    this.#prefetch.forget(idle);
    if (idle.state === 'warming') this.#cancel(idle);
    idle.isOver = true;
    const { usefulTokens } = idle;
    const wastedTokens = idle.warmedTokens - usefulTokens;
    idle.worth?.learn(usefulTokens, wastedTokens, this.ports.now());
    this.totals.usefulTokens += usefulTokens;
    this.totals.wastedTokens += wastedTokens;
    program.usefulTokens += usefulTokens;
    this.#byUse.delete(idle);
    const threads = this.#threads.get(program);
    threads?.delete(thread);
    if (threads?.size === 0) this.#threads.delete(program);
  }

  #clear(): void {
    for (const idle of this.#byUse) this.#drop(idle);
  }
}

const placeOf = ({ id }: Engine, { program, thread }: IdleThread) => ({ engine: id, program: program.id, thread });

/** A text that tells warms apart. */
const nameOf = ({ engine, program, thread }: Pick<MemoryMoved, 'engine' | 'program' | 'thread'>): string =>
  JSON.stringify([engine, program, thread]);
