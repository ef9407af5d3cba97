import type { Call } from '../programs/call.js';
import type { Program } from '../programs/process-table.js';
import { HORIZON_STEPS, STEPS_PER_HALF_LIFE, type ContextClass, type LearnedRetention } from './retention.js';

/**
 * Most of a cache that a context counts for growth to come. An engine that runs a few calls at a time reads its weights
 * for next to nothing, so in a small cache there is room for this many, come what may.
 */
const GROWTH_SHARE_MAX = 1 / 16;
/** Most of a cache that branches which nothing goes on from count: a tree that is searched for hours has long lost most of them. */
const BRANCH_SHARE_MAX = 1 / 16;
/** Programs whose shared beginnings are remembered. */
const MEMORY_PROGRAMS = 64;
/** What sums of shares may be off by, in tokens. */
const ROUNDING = 1e-6;

/** A context in one engine's KV cache: that of one thread of one program. */
export interface Context {
  readonly program: Program;
  readonly thread: string;
  /** Calls of the thread in flight on the engine. */
  active: number;
  /** What only it has put into the cache: of each call, the prompt that was not cached and the answer. */
  ownTokens: number;
  /** While active: the longest prompt of this spell, and the output reserved by calls in flight. */
  promptTokens: number;
  reservedTokens: number;
  /** What it takes of the cache by all that. */
  tokens: number;
  /** What it alone counts in the working set: its size, or what it is expected to grow to, less what it shares. */
  countedTokens: number;
  /** The largest context that a call of this active spell came out with. */
  finishedTokens: number;
  /** While idle: the tokens that the gate keeps for its return, before weighting. */
  retainedTokens: number;
  /** While idle: a call of the thread waits to come back to it. */
  isReturning: boolean;
  /** Whether this idle spell's outcome has been learnt. */
  isRecorded: boolean;
  /** The others of its kind that fell idle in the same step; undefined while active. */
  bucket: IdleBucket | undefined;
}

/** What a call leaves in the engine's cache. */
export interface CacheFootprint {
  /** Prompt and answer as they came out. */
  readonly contextTokens: number;
  /** Part of the prompt that was there already, if the engine says. */
  readonly cachedTokens: number | undefined;
}

/** Contexts of one kind that fell idle in one step: they are equally likely to return. */
interface IdleBucket {
  readonly step: number;
  readonly kind: ContextClass;
  readonly members: Set<Context>;
  retainedTokens: number;
  /** Members that a call waits to come back to. */
  returning: number;
  /** Part of the claims that counts, as of the last `settle`: what was added is what is taken away. */
  share: number;
}

/**
 * What one engine's KV cache holds, by our own count, and what of it the gate keeps for programs that will be back.
 *
 *     active   thread A, thread B ...                 in flight: all of their tokens
 *     idle     [step 90: C, D] [step 91: E] ...       buckets, longest idle first
 *
 * The *working set*, R_e = sum of heldTokens x w (DESIGN.md, section 4.5, where it is contextTokens; see `growth.ts`):
 *     w = 1                     with a call in flight,
 *     w = share(kind, idle)     afterwards: its claim. Clients rarely say that they are done, so claims fade, by what
 *                               was learnt of contexts like it (`returns.ts`),
 *     w = 0                     once its claim was given to another (`#reclaim`): longest idle first;
 * and what contexts share with each other once.
 * The *contents* are whatever was used last and fits the capacity, as in the engine's own LRU: a context that newer ones
 * have pushed out is gone, claim or not. There a context counts all that it has put into the cache: branches that nothing
 * goes on from fill it as well.
 *
 * A thread counts once however many of its calls run: parallel calls of a thread share their prefix, while sub-agents
 * (threads of their own) do not. Fading costs O(buckets) once a step however many contexts are idle; all else is O(1)
 * amortised, as each context is reclaimed, judged and dropped at most once an idle spell.
 */
export class WorkingSet {
  /** Most tokens that it can hold. */
  capacityTokens = Infinity;
  readonly #contexts = new Map<Program, Map<string, Context>>();
  /** Idle for too long to be waited for, longest first, and younger ones by when they fell idle. */
  readonly #old: IdleBucket = {
    step: -Infinity,
    kind: 0,
    members: new Set(),
    retainedTokens: 0,
    returning: 0,
    share: 0,
  };
  #buckets: IdleBucket[] = [];
  #step = 0;
  #activeTokens = 0;
  #activeCountedTokens = 0;
  #returningTokens = 0;
  #retainedTokens = 0;
  #idleTokens = 0;
  /** What the contexts of programs that began here share with each other, in the mean of the last ones. */
  #sharedPrefixTokens = 0;
  #begun = 0;

  constructor(private readonly retention: LearnedRetention) {}

  /** What the contexts with a call in flight count. */
  get activeCountedTokens(): number {
    return this.#activeCountedTokens + (this.#contexts.size === 0 ? 0 : Math.round(this.#sharedPrefixTokens));
  }

  /** R_e: active tokens and claims, as of the last `settle`. */
  get workingSetTokens(): number {
    return this.activeCountedTokens + this.#returningTokens + Math.max(0, Math.ceil(this.#retainedTokens - ROUNDING));
  }

  /** What the call's context of so many tokens, which is expected to grow, counts here. */
  countedTokens({ sharedTokens, forecastTokens: grownTokens }: Call, tokens: number): number {
    const grown = Math.min(grownTokens - sharedTokens, Math.floor(this.capacityTokens * GROWTH_SHARE_MAX));
    // An engine may have found more cached than the prompt was taken to have.
    return Math.max(0, tokens - sharedTokens, grown);
  }

  /** What the call would add to the contexts in flight here: parallel calls of a thread share the prompt of one. */
  extraTokens(call: Call): number {
    const context = this.get(call.program, call.thread);
    if (context === undefined || context.active === 0) return call.countedTokens;
    const promptTokens = Math.max(context.promptTokens, call.promptTokens);
    const reservedTokens = context.reservedTokens + call.needTokens - call.promptTokens;
    return Math.max(0, this.countedTokens(call, promptTokens + reservedTokens) - context.countedTokens);
  }

  #grow(context: Context, { sharedTokens }: Call, { contextTokens, cachedTokens }: CacheFootprint): void {
    context.finishedTokens = Math.max(context.finishedTokens, contextTokens);
    // Nothing of its own was cached: the engine had dropped it, or it is new.
    if (cachedTokens !== undefined && cachedTokens <= sharedTokens) context.ownTokens = 0;
    const knownTokens = cachedTokens ?? Math.min(contextTokens, context.ownTokens + sharedTokens);
    const mostTokens = contextTokens + this.capacityTokens * BRANCH_SHARE_MAX;
    context.ownTokens = Math.min(context.ownTokens + contextTokens - knownTokens, mostTokens);
  }

  #began(sharedTokens: number): void {
    this.#begun = Math.min(this.#begun + 1, MEMORY_PROGRAMS);
    this.#sharedPrefixTokens += (sharedTokens - this.#sharedPrefixTokens) / this.#begun;
  }

  #resize(context: Context, sharedTokens: number, heldTokens: number): void {
    const tokens = Math.max(context.ownTokens, context.promptTokens - sharedTokens) + context.reservedTokens;
    this.#activeTokens += tokens - context.tokens;
    this.#activeCountedTokens += heldTokens - context.countedTokens;
    context.tokens = tokens;
    context.countedTokens = heldTokens;
  }

  /** The thread's context, if it is still there. */
  get(program: Program, thread: string): Context | undefined {
    return this.#contexts.get(program)?.get(thread);
  }

  /**
   * The call begins here; claims make way until the working set is within `gateTokens`, longest idle first. Returns the
   * contexts that were pushed out of the cache.
   */
  enter(call: Call, gateTokens: number): Context[] {
    const { program, thread } = call;
    const context = this.#context(program, thread);
    this.expectReturn(program, thread);
    this.#leaveBucket(context);
    if (context.active === 0) {
      context.tokens = 0;
      context.promptTokens = 0;
      context.reservedTokens = 0;
      context.countedTokens = 0;
      context.finishedTokens = 0;
    }
    const extraTokens = this.extraTokens(call);
    context.active += 1;
    context.promptTokens = Math.max(context.promptTokens, call.promptTokens);
    context.reservedTokens += call.needTokens - call.promptTokens;
    this.#resize(context, call.sharedTokens, context.countedTokens + extraTokens);
    this.#reclaim(gateTokens);
    return this.#pushOut();
  }

  /** A call of the thread waits to come back: it has returned, and its context counts in full until the call runs. */
  expectReturn(program: Program, thread: string): void {
    const context = this.get(program, thread);
    if (context?.bucket === undefined || context.isReturning) return;
    this.#record(context, this.#age(context.bucket));
    this.#endRetention(context, context.bucket);
    context.isReturning = true;
    context.bucket.returning += 1;
    this.#returningTokens += context.countedTokens;
  }

  /** No call of the thread waits any longer. True: that has made room. */
  cancelReturn(program: Program, thread: string): boolean {
    const context = this.get(program, thread);
    if (context?.isReturning !== true) return false;
    this.#endReturn(context);
    return true;
  }

  /**
   * The call ended here. Returns the contexts that were pushed out of the cache.
   * @param left what it left behind; undefined when it failed
   * @param kind what kind of context it leaves
   */
  leave(call: Call, left: CacheFootprint | undefined, kind: ContextClass): Context[] {
    const context = this.#context(call.program, call.thread);
    context.active -= 1;
    if (left !== undefined) this.#grow(context, call, left);
    if (left !== undefined && call.isFirst) this.#began(call.sharedTokens);
    context.reservedTokens -= call.needTokens - call.promptTokens;
    if (context.active > 0) {
      const heldTokens = this.countedTokens(call, context.promptTokens + context.reservedTokens);
      this.#resize(context, call.sharedTokens, heldTokens);
      return [];
    }
    this.#activeTokens -= context.tokens;
    this.#activeCountedTokens -= context.countedTokens;
    const lastTokens = context.finishedTokens > 0 ? context.finishedTokens : context.promptTokens;
    context.tokens = Math.max(context.ownTokens, lastTokens - call.sharedTokens);
    context.countedTokens = this.countedTokens(call, lastTokens);
    context.retainedTokens = context.countedTokens;
    context.isRecorded = false;
    const bucket = this.#bucketOf(kind);
    context.bucket = bucket;
    bucket.members.add(context);
    bucket.retainedTokens += context.retainedTokens;
    this.#idleTokens += context.tokens;
    this.#retainedTokens += context.retainedTokens * bucket.share;
    return this.#pushOut();
  }

  /** The program, none of whose calls are active, is over: nothing of it is worth keeping. False: it held nothing here. */
  forget(program: Program): boolean {
    const threads = this.#contexts.get(program);
    for (const context of threads?.values() ?? []) {
      this.#record(context, undefined);
      this.#drop(context);
    }
    return threads !== undefined;
  }

  /** The cache is lost: only what is active still counts. */
  clear(): void {
    for (const bucket of [this.#old, ...this.#buckets]) for (const context of bucket.members) this.#drop(context);
    this.#buckets = [];
  }

  /** Lets claims fade up to `nowMs`. */
  settle(nowMs: number, halfLifeMs: number): void {
    const step = WorkingSet.stepOf(nowMs, halfLifeMs);
    if (step === this.#step) return;
    this.#step = step;
    for (const bucket of this.#buckets) if (this.#age(bucket) >= HORIZON_STEPS) this.#judge(bucket);
    this.#buckets = this.#buckets.filter(({ members }) => members.size > 0);
    this.#retainedTokens = 0;
    for (const bucket of this.#buckets) {
      bucket.share = this.retention.share(bucket.kind, this.#age(bucket));
      this.#retainedTokens += bucket.retainedTokens * bucket.share;
    }
  }

  /** Number of the step that holds this time. */
  static stepOf(nowMs: number, halfLifeMs: number): number {
    return Math.floor((nowMs * STEPS_PER_HALF_LIFE) / halfLifeMs);
  }

  /** When the next step begins. */
  static nextStepMs(nowMs: number, halfLifeMs: number): number {
    const next = WorkingSet.stepOf(nowMs, halfLifeMs) + 1;
    let atMs = (next * halfLifeMs) / STEPS_PER_HALF_LIFE;
    // Rounded down, that time would still lie in the present step, and whoever waits for the next one would spin.
    while (WorkingSet.stepOf(atMs, halfLifeMs) < next) atMs += Math.abs(atMs) * Number.EPSILON;
    return atMs;
  }

  #reclaim(gateTokens: number): void {
    if (this.workingSetTokens <= gateTokens) return;
    for (const bucket of [this.#old, ...this.#buckets]) {
      if (bucket.retainedTokens === 0 && bucket.returning === 0) continue;
      for (const context of bucket.members) {
        if (this.workingSetTokens <= gateTokens) return;
        this.#endReturn(context);
        this.#endRetention(context, bucket);
      }
    }
  }

  /** Learns, once an idle spell, whether the context was used again. */
  #record(context: Context, age: number | undefined): void {
    if (context.bucket !== undefined && !context.isRecorded) this.retention.learn(context.bucket.kind, age);
    context.isRecorded = true;
  }

  #endReturn(context: Context): void {
    if (!context.isReturning || context.bucket === undefined) return;
    context.isReturning = false;
    context.bucket.returning -= 1;
    this.#returningTokens -= context.countedTokens;
  }

  #endRetention(context: Context, bucket: IdleBucket): void {
    this.#retainedTokens -= context.retainedTokens * bucket.share;
    bucket.retainedTokens -= context.retainedTokens;
    context.retainedTokens = 0;
  }

  /** As the engine's LRU does: drops the longest idle contexts while all together exceed the capacity. */
  #pushOut(): Context[] {
    const dropped: Context[] = [];
    const exceeds = () => this.#activeTokens + this.#idleTokens + this.#sharedPrefixTokens > this.capacityTokens;
    while (exceeds()) {
      const bucket = this.#old.members.size > 0 ? this.#old : this.#buckets[0];
      if (bucket === undefined) break;
      for (const context of bucket.members) {
        if (!exceeds()) break;
        this.#drop(context);
        dropped.push(context);
      }
      if (bucket !== this.#old && bucket.members.size === 0) this.#buckets.shift();
    }
    return dropped;
  }

  /** Age in steps. A change of the half-life makes steps of another length; what then lies in the future is old. */
  #age(bucket: IdleBucket): number {
    return bucket.step > this.#step ? HORIZON_STEPS : this.#step - bucket.step;
  }

  #context(program: Program, thread: string): Context {
    let threads = this.#contexts.get(program);
    if (threads === undefined) this.#contexts.set(program, (threads = new Map<string, Context>()));
    let context = threads.get(thread);
    if (context === undefined) {
      context = {
        program,
        thread,
        active: 0,
        tokens: 0,
        ownTokens: 0,
        promptTokens: 0,
        reservedTokens: 0,
        countedTokens: 0,
        finishedTokens: 0,
        retainedTokens: 0,
        isReturning: false,
        isRecorded: true,
        bucket: undefined,
      };
      threads.set(thread, context);
    }
    return context;
  }

  #bucketOf(kind: ContextClass): IdleBucket {
    for (let index = this.#buckets.length - 1; this.#buckets[index]?.step === this.#step; index -= 1) {
      const bucket = this.#buckets[index];
      if (bucket?.kind === kind) return bucket;
    }
    const share = this.retention.share(kind, 0);
    const bucket = { step: this.#step, kind, members: new Set<Context>(), retainedTokens: 0, returning: 0, share };
    this.#buckets.push(bucket);
    return bucket;
  }

  /** None of its members has returned in time. Without a capacity they would stay for ever: then they are forgotten. */
  #judge(bucket: IdleBucket): void {
    for (const context of bucket.members) {
      this.#record(context, undefined);
      if (this.capacityTokens === Infinity) {
        this.#drop(context);
        continue;
      }
      this.#endRetention(context, bucket);
      bucket.members.delete(context);
      context.bucket = this.#old;
      this.#old.members.add(context);
      if (context.isReturning) this.#old.returning += 1;
    }
  }

  #leaveBucket(context: Context): void {
    const { bucket } = context;
    if (bucket === undefined) return;
    this.#endReturn(context);
    this.#endRetention(context, bucket);
    context.bucket = undefined;
    bucket.members.delete(context);
    this.#idleTokens -= context.tokens;
  }

  #drop(context: Context): void {
    this.#leaveBucket(context);
    const threads = this.#contexts.get(context.program);
    threads?.delete(context.thread);
    if (threads?.size === 0) this.#contexts.delete(context.program);
  }
}
