import type { Program } from './program.js';
import type { ReturnClass, Returns } from './returns.js';

/** Steps in a half-life: residency fades in steps, so that between two steps nothing about room changes by itself. */
const STEPS = 16;
/** Steps after which an idle context counts as not returned (two half-lives). */
const JUDGED_STEPS = STEPS * 2;
/** Steps after which it is forgotten (seven half-lives: 1/128 is left). */
const FORGOTTEN_STEPS = STEPS * 7;
const FADE: readonly number[] = Array.from({ length: FORGOTTEN_STEPS }, (_, step) => 2 ** (-step / STEPS));

/** What one thread of a program holds of one engine's KV cache. */
interface Resident {
  readonly program: Program;
  readonly thread: string;
  /** Calls of the thread in flight on the engine. */
  active: number;
  /** While active: its context, the largest among those calls. Idle: its context x the share that returns. */
  tokens: number;
  /** The largest context that a call of this active spell came out with. */
  finishedTokens: number;
  kind: ReturnClass;
  /** The others that fell idle in the same step; undefined while active. */
  cohort: Cohort | undefined;
}

/** Contexts that fell idle in one step: they fade together. */
interface Cohort {
  readonly step: number;
  readonly members: Set<Resident>;
  tokens: number;
  judged: boolean;
}

/**
 * The working set of one engine, R_e = sum of contextTokens x w: what its KV cache must hold for the programs that we
 * keep running there (DESIGN.md, section 4.5).
 *
 *     w = 1                          with a call in flight,
 *     w = r x 2^(-idle / halfLife)   afterwards, since clients rarely say that they are done; r: the share of such
 *                                    contexts that were used again (`returns.ts`),
 *     w = 0                          after seven half-lives.
 *
 *     active   thread A, thread B ...                 sum kept as calls come and go
 *     idle     [step 90: C, D] [step 91: E] ...       a cohort a step, with its sum; at most 112
 *
 * It counts a thread once however many of its calls run: parallel calls of a thread share their prefix, while
 * sub-agents (threads of their own) do not. Fading costs O(cohorts) once a step, however many programs are idle; all else
 * is O(1), as each context is judged and forgotten once.
 */
export class Residency {
  readonly #threads = new Map<Program, Map<string, Resident>>();
  readonly #cohorts: Cohort[] = [];
  #step = 0;
  #activeTokens = 0;
  #idleTokens = 0;

  constructor(private readonly returns: Returns) {}

  /** R_e, in tokens, as of the last `settle`. */
  get tokens(): number {
    return this.#activeTokens + this.#idleTokens;
  }

  /** What the thread counts for here. */
  own(program: Program, thread: string): number {
    const resident = this.#threads.get(program)?.get(thread);
    return resident === undefined ? 0 : this.#weight(resident);
  }

  /** A call of the thread begins here and takes `needTokens`. */
  enter(program: Program, thread: string, needTokens: number): void {
    const resident = this.#resident(program, thread);
    if (resident.cohort !== undefined) {
      if (!resident.cohort.judged) this.returns.learn(resident.kind, true);
      this.#leaveCohort(resident);
    }
    if (resident.active === 0) {
      resident.tokens = 0;
      resident.finishedTokens = 0;
    }
    resident.active += 1;
    this.#activeTokens += Math.max(0, needTokens - resident.tokens);
    resident.tokens = Math.max(resident.tokens, needTokens);
  }

  /**
   * A call of the thread ended here.
   * @param contextTokens prompt and answer as they came out; undefined when it failed
   * @param kind what kind of context it leaves
   */
  leave(program: Program, thread: string, contextTokens: number | undefined, kind: ReturnClass): void {
    const resident = this.#resident(program, thread);
    resident.active -= 1;
    resident.finishedTokens = Math.max(resident.finishedTokens, contextTokens ?? 0);
    if (resident.active > 0) return;
    this.#activeTokens -= resident.tokens;
    const context = resident.finishedTokens || resident.tokens;
    resident.tokens = Math.floor(context * this.returns.share(kind));
    resident.kind = kind;
    resident.cohort = this.#cohort();
    resident.cohort.members.add(resident);
    resident.cohort.tokens += resident.tokens;
    this.#idleTokens = this.#fadedTokens();
  }

  /** The program, none of whose calls are active, is over: nothing of it is worth keeping. False: it held nothing here. */
  forget(program: Program): boolean {
    const threads = this.#threads.get(program);
    for (const resident of threads?.values() ?? []) this.#drop(resident);
    return threads !== undefined;
  }

  /** The cache is lost: only what is active still counts. */
  clear(): void {
    for (const cohort of this.#cohorts.splice(0)) for (const resident of cohort.members) this.#drop(resident);
    this.#idleTokens = 0;
  }

  /** Lets idle contexts fade up to `nowMs`. Returns true when a step has passed. */
  settle(nowMs: number, halfLifeMs: number): boolean {
    const step = Math.floor((nowMs * STEPS) / halfLifeMs);
    if (step === this.#step) return false;
    this.#step = step;
    for (const cohort of this.#cohorts) if (!cohort.judged && this.#age(cohort) >= JUDGED_STEPS) this.#judge(cohort);
    while (this.#cohorts[0] !== undefined && this.#age(this.#cohorts[0]) >= FORGOTTEN_STEPS)
      for (const resident of this.#cohorts.shift()?.members ?? []) this.#drop(resident);
    this.#idleTokens = this.#fadedTokens();
    return true;
  }

  /** When the next step begins. */
  static nextStepMs(nowMs: number, halfLifeMs: number): number {
    return ((Math.floor((nowMs * STEPS) / halfLifeMs) + 1) * halfLifeMs) / STEPS;
  }

  /** Age in steps; a change of the half-life makes steps of another length, and what lies in the future is old. */
  #age(cohort: Cohort): number {
    return cohort.step > this.#step ? FORGOTTEN_STEPS : this.#step - cohort.step;
  }

  #weight(resident: Resident): number {
    const { cohort, tokens } = resident;
    return cohort === undefined ? tokens : Math.floor(tokens * (FADE[this.#age(cohort)] ?? 0));
  }

  #fadedTokens(): number {
    let sum = 0;
    for (const cohort of this.#cohorts) sum += Math.ceil(cohort.tokens * (FADE[this.#age(cohort)] ?? 0));
    return sum;
  }

  #resident(program: Program, thread: string): Resident {
    let threads = this.#threads.get(program);
    if (threads === undefined) this.#threads.set(program, (threads = new Map<string, Resident>()));
    let resident = threads.get(thread);
    if (resident === undefined) {
      resident = { program, thread, active: 0, tokens: 0, finishedTokens: 0, kind: 0, cohort: undefined };
      threads.set(thread, resident);
    }
    return resident;
  }

  #cohort(): Cohort {
    const last = this.#cohorts.at(-1);
    if (last?.step === this.#step) return last;
    const cohort = { step: this.#step, members: new Set<Resident>(), tokens: 0, judged: false };
    this.#cohorts.push(cohort);
    return cohort;
  }

  /** None of its members has returned in time. What is expected to be worth nothing need not be remembered. */
  #judge(cohort: Cohort): void {
    cohort.judged = true;
    for (const resident of cohort.members) {
      this.returns.learn(resident.kind, false);
      if (resident.tokens === 0) this.#drop(resident);
    }
  }

  #leaveCohort(resident: Resident): void {
    const { cohort } = resident;
    if (cohort === undefined) return;
    resident.cohort = undefined;
    cohort.members.delete(resident);
    cohort.tokens -= resident.tokens;
    this.#idleTokens = this.#fadedTokens();
  }

  #drop(resident: Resident): void {
    this.#leaveCohort(resident);
    const threads = this.#threads.get(resident.program);
    threads?.delete(resident.thread);
    if (threads?.size === 0) this.#threads.delete(resident.program);
  }
}
