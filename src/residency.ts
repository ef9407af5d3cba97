import type { Program } from './program.js';

/** Steps in a half-life: residency fades in steps, so that between two steps nothing about room changes by itself. */
const STEPS = 16;
/** An idle context is forgotten when less than this share is left of it (seven half-lives). */
const LEAST_SHARE = 1 / 128;
const FADE: readonly number[] = Array.from({ length: STEPS * 7 }, (_, step) => 2 ** (-step / STEPS));

/** What one thread of a program holds of one engine's KV cache. */
interface Resident {
  readonly program: Program;
  readonly thread: string;
  /** Calls of the thread in flight on the engine. */
  active: number;
  /** What it counts for now: all of its context while active, a fading share of it afterwards. */
  tokens: number;
  /** Its context in whole: the largest since it was last idle. */
  contextTokens: number;
  /** The largest context that a call of this active spell came out with. */
  finishedTokens: number;
  /** Step in which it fell idle. */
  idleStep: number;
}

/**
 * The working set of one engine, R_e = sum of contextTokens x w: what its KV cache must hold for the programs that we
 * keep running there (DESIGN.md, section 4.5).
 *
 *     w = 1                      with a call in flight,
 *     w = 2^(-idle / halfLife)   afterwards, since clients rarely say that they are done,
 *     w = 0                      once below 1/128.
 *
 * It counts a thread once however many of its calls run: parallel calls of a thread share their prefix, while sub-agents
 * (threads of their own) do not. Whole tokens, so that a sum never drifts; fading happens in steps of 1/16 half-life
 * (`settle`), each O(threads here); all else is O(1).
 */
export class Residency {
  readonly #threads = new Map<Program, Map<string, Resident>>();
  #step = 0;
  #tokens = 0;

  /** R_e, in tokens, as of the last `settle`. */
  get tokens(): number {
    return this.#tokens;
  }

  /** What the thread counts for here. */
  own(program: Program, thread: string): number {
    return this.#threads.get(program)?.get(thread)?.tokens ?? 0;
  }

  /** A call of the thread begins here and takes `needTokens`. */
  enter(program: Program, thread: string, needTokens: number): void {
    const resident = this.#resident(program, thread);
    if (resident.active === 0) resident.finishedTokens = 0;
    const context = resident.active === 0 ? needTokens : Math.max(resident.contextTokens, needTokens);
    resident.active += 1;
    this.#count(resident, context, context);
  }

  /** A call of the thread ended here; `contextTokens`: prompt and answer as they came out, undefined when it failed. */
  leave(program: Program, thread: string, contextTokens: number | undefined): void {
    const resident = this.#resident(program, thread);
    resident.active -= 1;
    resident.finishedTokens = Math.max(resident.finishedTokens, contextTokens ?? 0);
    if (resident.active > 0) return;
    const context = resident.finishedTokens || resident.contextTokens;
    resident.idleStep = this.#step;
    this.#count(resident, context, context);
  }

  /** The program is over: nothing of it is worth keeping. Active threads stay counted until they leave. */
  forget(program: Program): void {
    for (const resident of this.#threads.get(program)?.values() ?? []) if (resident.active === 0) this.#drop(resident);
  }

  /** The cache is lost: only what is active still counts. */
  clear(): void {
    for (const threads of this.#threads.values())
      for (const resident of threads.values()) if (resident.active === 0) this.#drop(resident);
  }

  /** Lets idle contexts fade up to `nowMs`. Returns true when anything changed. */
  settle(nowMs: number, halfLifeMs: number): boolean {
    const step = Math.floor((nowMs * STEPS) / halfLifeMs);
    if (step === this.#step) return false;
    this.#step = step;
    const before = this.#tokens;
    for (const threads of this.#threads.values()) {
      for (const resident of threads.values()) {
        if (resident.active > 0) continue;
        const share = FADE[step - resident.idleStep] ?? 0;
        if (share < LEAST_SHARE) this.#drop(resident);
        else this.#count(resident, resident.contextTokens, Math.floor(resident.contextTokens * share));
      }
    }
    return this.#tokens !== before;
  }

  /** When the next step begins. */
  static nextStepMs(nowMs: number, halfLifeMs: number): number {
    return ((Math.floor((nowMs * STEPS) / halfLifeMs) + 1) * halfLifeMs) / STEPS;
  }

  #resident(program: Program, thread: string): Resident {
    let threads = this.#threads.get(program);
    if (threads === undefined) this.#threads.set(program, (threads = new Map<string, Resident>()));
    let resident = threads.get(thread);
    if (resident === undefined) {
      resident = { program, thread, active: 0, tokens: 0, contextTokens: 0, finishedTokens: 0, idleStep: this.#step };
      threads.set(thread, resident);
    }
    return resident;
  }

  #count(resident: Resident, contextTokens: number, tokens: number): void {
    this.#tokens += tokens - resident.tokens;
    resident.contextTokens = contextTokens;
    resident.tokens = tokens;
  }

  #drop(resident: Resident): void {
    this.#tokens -= resident.tokens;
    const threads = this.#threads.get(resident.program);
    threads?.delete(resident.thread);
    if (threads?.size === 0) this.#threads.delete(resident.program);
  }
}
