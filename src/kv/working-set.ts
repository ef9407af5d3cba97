import type { Call } from '../programs/call.js';
import type { Program } from '../programs/process-table.js';
import type { Tokens } from '../protocol/units.js';
import { stepOf } from '../policies/idle-steps.js';
import type { RetentionPolicy } from '../policies/retention.js';
import { CacheContents } from './cache-contents.js';
import { isCountedElsewhere, ROOT, type Context, type Grown, type Left } from './context.js';
import { ContextsInUse, type Others } from './contexts-in-use.js';
import { restore, standingOf, type DisplacedContexts } from './displacements.js';
import { IdleClaims } from './idle-claims.js';
import { Needs } from './needs.js';
import { SharedHoldings } from './shared-prefixes.js';

/**
 * The tokens of one engine's KV cache that the gate counts: contexts in use, and claims of idle ones likely to return.
 *
 *     active   thread A, thread B ...                 in flight: all of their tokens
 *     idle     [step 90: C, D] [step 91: E] ...       buckets, longest idle first
 *
 * The *working set* is R_e = sum of countedTokens x w, with
 *     w = 1                     for a context with a call in flight, or waiting to return to it,
 *     w = share(kind, idle)     for an idle one: its claim, which the retention policy lets fade, as clients rarely
 *                               announce their end; once faded it does not come back,
 *     w = 0                     once the claim was given to another context (`reclaim`), longest idle first;
 * plus each family's shared prefix, once, while any of its contexts counts.
 *
 * A thread counts once however many of its calls run, as they share their prefix. Fading costs O(buckets) a step however
 * many contexts are idle; all else is O(1) amortised, as each is reclaimed, judged and dropped once an idle spell.
 *
 * Entering is undone for a call that left `nothing`. Displacing contexts only at the first token would be too late for an
 * answer without a stream, whose first token comes with its last.
 */
export class WorkingSet {
  readonly contents = new CacheContents();
  readonly claims: IdleClaims;
  readonly inUse = new ContextsInUse();
  /** Contexts that each call in flight has displaced, to be restored if it leaves `nothing`. */
  readonly #displaced = new Map<Call, DisplacedContexts>();
  readonly #countedShared = new SharedHoldings();
  readonly needs = new Needs(this.contents, this.inUse, this.#countedShared);

  constructor(retention: RetentionPolicy) {
    this.claims = new IdleClaims(retention, this.#countedShared);
  }

  get hostTokens(): number {
    return this.contents.hostTokens;
  }

  set hostTokens(tokens: number) {
    this.contents.hostTokens = tokens;
    if (tokens === 0) for (const context of this.contents.onHost) this.#drop(context);
  }

  /** R_e in tokens: active contexts and claims, as of the last `settle`. */
  get workingSetTokens(): number {
    return this.inUse.tokens + this.claims.tokens + this.#countedShared.tokens;
  }

  /** Tokens of all gateways' active contexts. With a host without growth to come: it pushes out nothing for good. */
  get runningAnywhereTokens(): number {
    return this.hostTokens === 0 ? this.inUse.anywhereTokens : this.inUse.runningAnywhereTokens;
  }

  get anywhereTokens(): number {
    const { activeTokens, claimTokens } = this.inUse.others;
    return this.workingSetTokens + activeTokens + claimTokens;
  }

  /** Notes the others' counted and cached tokens here. Returns the contexts that theirs have evicted. */
  share({ activeTokens, claimTokens, cachedTokens }: Others & { readonly cachedTokens: number }): Context[] {
    this.inUse.others = { activeTokens, claimTokens };
    this.contents.othersTokens = cachedTokens;
    return this.#pushOut();
  }

  /** Tokens that the first call of its thread's present spell brought back from the host, by our estimate. */
  loadedTokens({ program, thread }: Call): number {
    const before = this.contents.get(program, thread)?.before;
    return before?.isOnHost === true ? before.cachedTokens : 0;
  }

  /** The call begins here: idle contexts lose claims until the working set is within `gateTokens`. Returns those evicted. */
  enter(call: Call, gateTokens: number): Context[] {
    const extraTokens = this.needs.extraTokens(call);
    const context = this.contents.get(call.program, call.thread) ?? this.contents.open(call.program, call.thread);
    if (context.calls === 0) this.#activate(context, call);
    context.calls += 1;
    context.promptTokens = Math.max(context.promptTokens, call.promptTokens);
    context.reservedTokens += call.needTokens - call.promptTokens;
    this.#resize(context, context.countedTokens + extraTokens);
    const displaced: DisplacedContexts = new Map();
    this.#displaced.set(call, displaced);
    this.reclaim(gateTokens, displaced);
    return this.#pushOut(displaced);
  }

  #activate(context: Context, { family, sharedTokens }: Call): void {
    const { bucket, countedTokens, cachedTokens, isOnHost } = context;
    if (bucket !== undefined) {
      const shared = { family: context.family, sharedTokens: context.sharedTokens };
      context.before = { bucket, countedTokens, cachedTokens, isOnHost, ...shared };
      this.claims.expectReturn(context);
      this.claims.leave(context);
    }
    context.promptTokens = context.reservedTokens = context.countedTokens = 0;
    context.leftTokens = context.cutOffTokens = 0;
    this.contents.activate(context);
    this.contents.resize(context, 0, family, sharedTokens);
    this.inUse.shared.count(family, sharedTokens, 1);
    this.claims.recount(context);
  }

  expectReturn(program: Program, thread: string): void {
    const context = this.contents.get(program, thread);
    if (context === undefined) this.claims.returned({ program, thread });
    else this.claims.expectReturn(context);
  }

  /** A call of the thread waits as a newcomer: its own claim must not keep it out. Returns true when that has made room. */
  forgoReturn(program: Program, thread: string): boolean {
    const context = this.contents.get(program, thread);
    if (context === undefined) return (this.claims.returned({ program, thread }), false);
    const hadClaim = context.isRetained;
    this.claims.forgo(context);
    return hadClaim;
  }

  cancelReturn(program: Program, thread: string): boolean {
    const context = this.contents.get(program, thread);
    return context !== undefined && this.claims.endReturn(context);
  }

  /** The call has ended here. Returns the contexts that were evicted and those that were restored. */
  leave(call: Call, left: Left): Context[] {
    const context = this.contents.get(call.program, call.thread);
    if (context === undefined) return [];
    const displaced = this.#displaced.get(call);
    this.#displaced.delete(call);
    context.calls -= 1;
    context.reservedTokens -= call.needTokens - call.promptTokens;
    if (left === 'nothing') context.promptTokens = this.#longestPrompt(call);
    else if (left === 'unknown') context.cutOffTokens = Math.max(context.cutOffTokens, call.promptTokens);
    else {
      this.contents.grow(context, left);
      context.leftTokens = Math.max(context.leftTokens, left.contextTokens);
    }
    const grown = typeof left === 'object' ? left : call;
    const { calls, promptTokens, reservedTokens } = context;
    if (calls > 0) this.#resize(context, this.needs.countedActive(context, grown, promptTokens, reservedTokens));
    else this.#rest(context, grown);
    const back = left === 'nothing' && displaced !== undefined ? restore(displaced, this.contents, this.claims) : [];
    return [...back, ...this.#pushOut()];
  }

  /** The context is idle: as it was before, if none of its calls reached the cache. */
  #rest(context: Context, grown: Grown): void {
    const { before } = context;
    const lastTokens = context.leftTokens > 0 ? context.leftTokens : context.cutOffTokens;
    this.inUse.leave(context);
    context.before = undefined;
    this.contents.rest(context);
    this.claims.recount(context);
    if (lastTokens > 0) {
      const { sharedTokens } = grown;
      const ownTokens = Math.max(context.ownTokens, lastTokens - sharedTokens);
      this.contents.resize(context, ownTokens, context.family, sharedTokens);
      context.countedTokens = this.needs.countedTokens(grown, lastTokens);
      this.claims.rest(context);
    } else if (before?.bucket !== undefined) {
      this.contents.resize(context, before.cachedTokens, before.family, before.sharedTokens);
      context.countedTokens = before.countedTokens;
      if (before.isOnHost) this.contents.offload(context);
      this.claims.resume(context, before.bucket, true);
    } else this.contents.drop(context);
  }

  /** Another gateway's call left the thread's context here, idle. It teaches retention nothing. Returns those evicted. */
  adopt(of: Grown & Pick<Call, 'program' | 'thread' | 'family'>, tokens: number): Context[] {
    const { program, thread, family, sharedTokens } = of;
    if (this.contents.get(program, thread) !== undefined) return [];
    const context = this.contents.open(program, thread);
    context.ownTokens = Math.max(0, tokens - sharedTokens);
    this.contents.rest(context);
    this.contents.resize(context, context.ownTokens, family, sharedTokens);
    context.countedTokens = this.needs.countedTokens(of, tokens);
    this.claims.rest(context);
    context.isRecorded = true;
    return this.#pushOut();
  }

  contextTokens(program: Program): Record<string, Tokens> {
    const sizeOf = ({ cachedTokens, sharedTokens }: Context) => Math.round(cachedTokens + sharedTokens) as Tokens;
    return Object.fromEntries(this.contents.of(program).map((context) => [context.thread, sizeOf(context)]));
  }

  /** Another gateway counts the program's contexts: idle ones are dropped. Returns those that count less here. */
  handOver(program: Program): Context[] {
    const contexts = this.contents.of(program);
    for (const context of contexts) {
      if (context.state === 'idle') {
        this.claims.expectReturn(context);
        this.#drop(context);
      } else if (isCountedElsewhere(context)) this.#resize(context, context.reservedTokens);
    }
    return contexts;
  }

  /** The call's program is back: the prompt of its root's calls in flight counts here again. Returns that context. */
  takeBack(call: Call): Context | undefined {
    const root = this.contents.get(call.program, ROOT);
    if (root?.state !== 'active') return undefined;
    this.#resize(root, this.needs.countedActive(root, call, root.promptTokens, root.reservedTokens));
    return root;
  }

  /** The program is over. Its contexts stay until the engine's turn to evict them, but for too many: were any dropped? */
  forget(program: Program): boolean {
    const contexts = this.contents.of(program);
    // With no known capacity nothing else would ever evict them.
    const isUnbounded = this.contents.capacityTokens === Infinity;
    const dropped = isUnbounded ? contexts : contexts.flatMap((context) => this.contents.abandon(context) ?? []);
    for (const context of dropped) {
      this.claims.record(context, undefined);
      this.#drop(context);
    }
    return dropped.length > 0;
  }

  /** The cache is lost: only active contexts still count. */
  clear(): void {
    for (const context of this.contents.idle()) this.#drop(context);
    this.claims.forgetEvicted();
    for (const call of this.#displaced.keys()) {
      const context = this.contents.get(call.program, call.thread);
      if (context !== undefined) context.before = undefined;
    }
    this.#displaced.clear();
  }

  /** Lets claims fade up to `nowMs`. @param worthSteps worth of a return, in steps of holding its room */
  settle(nowMs: number, halfLifeMs: number, worthSteps: number): void {
    const late = this.claims.settle(stepOf(nowMs, halfLifeMs), worthSteps);
    // With no known capacity nothing else would ever evict them.
    if (this.contents.capacityTokens === Infinity) for (const context of late) this.#drop(context);
  }

  #resize(context: Context, countedTokens: number): void {
    const { ownTokens, promptTokens, sharedTokens, reservedTokens, family } = context;
    const tokens = Math.max(ownTokens, promptTokens - sharedTokens) + reservedTokens;
    this.contents.resize(context, tokens, family, sharedTokens);
    this.inUse.resize(context, countedTokens);
  }

  #longestPrompt({ program, thread }: Call): number {
    const others = program.activeCalls.filter((call) => call.thread === thread && call.engine?.workingSet === this);
    return Math.max(0, ...others.map(({ promptTokens }) => promptTokens));
  }

  /** Takes claims from idle contexts, longest idle first, until the working set is within the gate. */
  reclaim(gateTokens: number, displaced: DisplacedContexts = new Map()): void {
    // Fixed before: as claims go, the others' part of the gate would grow, and each gateway give up the whole excess.
    const mostTokens = this.inUse.ownGate(gateTokens, this.workingSetTokens);
    const isWithin = (): boolean => this.workingSetTokens <= mostTokens;
    if (isWithin()) return;
    for (const context of this.claims.claimed()) {
      displaced.set(context, standingOf(context));
      this.claims.endReturn(context);
      this.claims.release(context);
      if (isWithin()) return;
    }
  }

  /** Drops the longest-idle contexts while the contents exceed both capacities, as the engine's LRU does. */
  #pushOut(displaced?: DisplacedContexts): Context[] {
    const dropped: Context[] = [];
    for (let context = this.contents.surplus(); context !== undefined; context = this.contents.surplus()) {
      if (displaced?.has(context) === false) displaced.set(context, standingOf(context));
      this.claims.evict(context);
      this.contents.drop(context);
      dropped.push(context);
    }
    return dropped;
  }

  #drop(context: Context): void {
    this.claims.leave(context);
    this.contents.drop(context);
  }
}
