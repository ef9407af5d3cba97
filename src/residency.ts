import type { Program } from './program.js';
import type { ReturnClass, Returns } from './returns.js';

/** Steps in a half-life: claims fade in steps, so that between two steps nothing about room changes by itself. */
const STEPS = 16;
/** Steps after which an idle context counts as not returned (two half-lives). */
const JUDGED_STEPS = STEPS * 2;
/** Steps after which it is forgotten (seven half-lives: 1/128 is left of its claim). */
const FORGOTTEN_STEPS = STEPS * 7;
const FADE: readonly number[] = Array.from({ length: FORGOTTEN_STEPS }, (_, step) => 2 ** (-step / STEPS));

/** A context in one engine's KV cache: that of one thread of one program. */
export interface Context {
  readonly program: Program;
  readonly thread: string;
  /** Calls of the thread in flight on the engine. */
  active: number;
  /** Its size: the largest call in flight, or what the last ones left. */
  tokens: number;
  /** The largest context that a call of this active spell came out with. */
  finishedTokens: number;
  kind: ReturnClass;
  /** While idle: the tokens that the gate keeps for its return, before fading. */
  claim: number;
  /** The others that fell idle in the same step; undefined while active. */
  cohort: Cohort | undefined;
}

/** Contexts that fell idle in one step: their claims fade together. */
interface Cohort {
  readonly step: number;
  readonly members: Set<Context>;
  claims: number;
  judged: boolean;
}

/**
 * What one engine's KV cache holds, by our own count, and what of it the gate keeps for programs that will be back.
 *
 *     active   thread A, thread B ...                 in flight: all of their tokens
 *     idle     [step 90: C, D] [step 91: E] ...       cohorts, longest idle first; at most 112
 *
 * The *working set*, R_e = sum of contextTokens x w (DESIGN.md, section 4.5):
 *     w = 1                          with a call in flight,
 *     w = r x 2^(-idle / halfLife)   afterwards: its claim. Clients rarely say that they are done, so claims fade; r is the
 *                                    share of such contexts that were used again (`returns.ts`),
 *     w = 0                          once its claim was given to another (`reclaim`): longest idle first.
 * The *contents* are whatever was used last and fits the capacity, as in the engine's own LRU: a context that newer ones
 * have pushed out is gone, claim or not.
 *
 * A thread counts once however many of its calls run: parallel calls of a thread share their prefix, while sub-agents
 * (threads of their own) do not. Fading costs O(cohorts) once a step however many contexts are idle; all else is O(1)
 * amortised, as each context is reclaimed, judged and dropped at most once an idle spell.
 */
export class Residency {
  /** Most tokens that it can hold. */
  capacityTokens = Infinity;
  readonly #contexts = new Map<Program, Map<string, Context>>();
  readonly #cohorts: Cohort[] = [];
  #step = 0;
  #activeTokens = 0;
  #claimedTokens = 0;
  #idleTokens = 0;

  constructor(private readonly returns: Returns) {}

  /** Tokens of the contexts with a call in flight. */
  get activeTokens(): number {
    return this.#activeTokens;
  }

  /** R_e: active tokens and claims, as of the last `settle`. */
  get workingSetTokens(): number {
    return this.#activeTokens + this.#claimedTokens;
  }

  /** The thread's context, if it is still there. */
  get(program: Program, thread: string): Context | undefined {
    return this.#contexts.get(program)?.get(thread);
  }

  /**
   * A call of the thread begins here and takes `needTokens`; claims make way until the working set is within
   * `gateTokens`, longest idle first. Returns the contexts that were pushed out of the cache.
   */
  enter(program: Program, thread: string, needTokens: number, gateTokens: number): Context[] {
    const context = this.#context(program, thread);
    if (context.cohort !== undefined) {
      if (!context.cohort.judged) this.returns.learn(context.kind, true);
      this.#leaveCohort(context);
    }
    if (context.active === 0) {
      context.tokens = 0;
      context.finishedTokens = 0;
    }
    context.active += 1;
    this.#activeTokens += Math.max(0, needTokens - context.tokens);
    context.tokens = Math.max(context.tokens, needTokens);
    this.#reclaim(gateTokens);
    return this.#pushOut();
  }

  /**
   * A call of the thread ended here. Returns the contexts that were pushed out of the cache.
   * @param contextTokens prompt and answer as they came out; undefined when it failed
   * @param kind what kind of context it leaves
   */
  leave(program: Program, thread: string, contextTokens: number | undefined, kind: ReturnClass): Context[] {
    const context = this.#context(program, thread);
    context.active -= 1;
    context.finishedTokens = Math.max(context.finishedTokens, contextTokens ?? 0);
    if (context.active > 0) return [];
    this.#activeTokens -= context.tokens;
    if (context.finishedTokens > 0) context.tokens = context.finishedTokens;
    context.kind = kind;
    context.claim = Math.floor(context.tokens * this.returns.share(kind));
    const cohort = this.#cohort();
    context.cohort = cohort;
    cohort.members.add(context);
    cohort.claims += context.claim;
    this.#idleTokens += context.tokens;
    this.#claimedTokens = this.#fadedClaims();
    return this.#pushOut();
  }

  /** The program, none of whose calls are active, is over: nothing of it is worth keeping. False: it held nothing here. */
  forget(program: Program): boolean {
    const threads = this.#contexts.get(program);
    for (const context of threads?.values() ?? []) this.#drop(context);
    return threads !== undefined;
  }

  /** The cache is lost: only what is active still counts. */
  clear(): void {
    for (const cohort of this.#cohorts.splice(0)) for (const context of cohort.members) this.#drop(context);
  }

  /** Lets claims fade up to `nowMs`. */
  settle(nowMs: number, halfLifeMs: number): void {
    const step = stepOf(nowMs, halfLifeMs);
    if (step === this.#step) return;
    this.#step = step;
    for (const cohort of this.#cohorts) if (!cohort.judged && this.#age(cohort) >= JUDGED_STEPS) this.#judge(cohort);
    while (this.#cohorts[0] !== undefined && this.#age(this.#cohorts[0]) >= FORGOTTEN_STEPS)
      for (const context of this.#cohorts.shift()?.members ?? []) this.#drop(context);
    this.#claimedTokens = this.#fadedClaims();
  }

  /** When the next step begins. */
  static nextStepMs(nowMs: number, halfLifeMs: number): number {
    const next = stepOf(nowMs, halfLifeMs) + 1;
    let atMs = (next * halfLifeMs) / STEPS;
    // Rounded down, that time would still lie in the present step, and whoever waits for the next one would spin.
    while (stepOf(atMs, halfLifeMs) < next) atMs += Math.abs(atMs) * Number.EPSILON;
    return atMs;
  }

  #reclaim(gateTokens: number): void {
    for (const cohort of this.#cohorts) {
      for (const context of cohort.claims > 0 ? cohort.members : []) {
        if (this.workingSetTokens <= gateTokens) return;
        cohort.claims -= context.claim;
        context.claim = 0;
        this.#claimedTokens = this.#fadedClaims();
      }
    }
  }

  /** As the engine's LRU does: drops the longest idle contexts while all together exceed the capacity. */
  #pushOut(): Context[] {
    const dropped: Context[] = [];
    while (this.#activeTokens + this.#idleTokens > this.capacityTokens) {
      const cohort = this.#cohorts[0];
      if (cohort === undefined) break;
      for (const context of cohort.members) {
        if (this.#activeTokens + this.#idleTokens <= this.capacityTokens) break;
        this.#drop(context);
        dropped.push(context);
      }
      if (cohort.members.size === 0) this.#cohorts.shift();
    }
    return dropped;
  }

  /** Age in steps. A change of the half-life makes steps of another length; what then lies in the future is old. */
  #age(cohort: Cohort): number {
    return cohort.step > this.#step ? FORGOTTEN_STEPS : this.#step - cohort.step;
  }

  #fadedClaims(): number {
    let sum = 0;
    for (const cohort of this.#cohorts) sum += Math.ceil(cohort.claims * (FADE[this.#age(cohort)] ?? 0));
    return sum;
  }

  #context(program: Program, thread: string): Context {
    let threads = this.#contexts.get(program);
    if (threads === undefined) this.#contexts.set(program, (threads = new Map<string, Context>()));
    let context = threads.get(thread);
    if (context === undefined) {
      const blank = { active: 0, tokens: 0, finishedTokens: 0, kind: 0, claim: 0, cohort: undefined };
      threads.set(thread, (context = { program, thread, ...blank }));
    }
    return context;
  }

  #cohort(): Cohort {
    const last = this.#cohorts.at(-1);
    if (last?.step === this.#step) return last;
    const cohort = { step: this.#step, members: new Set<Context>(), claims: 0, judged: false };
    this.#cohorts.push(cohort);
    return cohort;
  }

  /** None of its members has returned in time. */
  #judge(cohort: Cohort): void {
    cohort.judged = true;
    for (const context of cohort.members) this.returns.learn(context.kind, false);
  }

  #leaveCohort(context: Context): void {
    const { cohort } = context;
    if (cohort === undefined) return;
    context.cohort = undefined;
    cohort.members.delete(context);
    cohort.claims -= context.claim;
    this.#idleTokens -= context.tokens;
    this.#claimedTokens = this.#fadedClaims();
  }

  #drop(context: Context): void {
    this.#leaveCohort(context);
    const threads = this.#contexts.get(context.program);
    threads?.delete(context.thread);
    if (threads?.size === 0) this.#contexts.delete(context.program);
  }
}

/** Number of the step that holds this time. */
function stepOf(nowMs: number, halfLifeMs: number): number {
  return Math.floor((nowMs * STEPS) / halfLifeMs);
}
