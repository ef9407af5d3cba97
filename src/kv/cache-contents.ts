import type { Family } from '../protocol/events.js';
import type { Program } from '../programs/process-table.js';
import { Context, type CacheFootprint } from './context.js';
import { SharedHoldings } from './shared-prefixes.js';

/** Upper bound, as a share of the cache, for a context's abandoned branches: a long tree search has lost most of them. */
const BRANCH_SHARE_MAX = 1 / 16;
/** Upper bound on abandoned contexts: tiny ones would fill the memory before they fill a cache. */
const ABANDONED_MAX = 4096;

/**
 * Our estimate of one engine's KV cache: the most recently used contexts that fit the capacity, as in the engine's own
 * LRU. A context that newer ones evicted is gone, whatever the gate wanted to keep. A context's size is everything that
 * its calls have put in, since abandoned branches fill the cache as well. A family's shared prefix is counted once.
 *
 * An engine that offloads keeps in host memory what leaves its KV cache, and loses there what was used longest ago:
 *
 *     used last  [ active, idle: in the KV cache ][ on the host ]  used longest ago  ──> gone
 */
export class CacheContents {
  /** Capacity in tokens; Infinity when unknown. */
  capacityTokens = Infinity;
  /** Tokens that the engine's host memory keeps beside those in the KV cache; 0: none. */
  hostTokens = 0;
  othersTokens = 0;
  readonly #contexts = new Map<Program, Map<string, Context>>();
  /** Idle ones on the host, and in the KV cache; longest idle first. */
  onHost = new Set<Context>();
  #idle = new Set<Context>();
  /** Those of them whose programs are over, first to end first. */
  readonly #abandoned = new Set<Context>();
  /** On the host, and in the KV cache without shared prefixes. */
  onHostTokens = 0;
  #tokens = 0;
  readonly #shared = new SharedHoldings();

  get(program: Program, thread: string): Context | undefined {
    return this.#contexts.get(program)?.get(thread);
  }

  of(program: Program): Context[] {
    return [...(this.#contexts.get(program)?.values() ?? [])];
  }

  *idle(): Generator<Context> {
    yield* this.onHost;
    yield* this.#idle;
  }

  /** Adds an active context for a thread that has none. */
  open(program: Program, thread: string): Context {
    const context = new Context(program, thread);
    this.#insert(context);
    return context;
  }

  /** The context is in use: it cannot be evicted. One on the host comes back. */
  activate(context: Context): void {
    context.state = 'active';
    if (!this.onHost.delete(context)) this.#idle.delete(context);
    else this.#move(context, false);
  }

  /** The context is idle from now on, and the last to be evicted. */
  rest(context: Context): void {
    context.state = 'idle';
    this.#idle.add(context);
  }

  /** Sets the context's own size, and the length of the prefix that it shares with its family, both in tokens. */
  resize(context: Context, tokens: number, family: Family | undefined, sharedTokens: number): void {
    this.#tokens += tokens - context.cachedTokens;
    context.cachedTokens = tokens;
    if (family?.id === context.family?.id && sharedTokens === context.sharedTokens) return;
    this.#shared.count(family, sharedTokens, 1);
    this.#shared.count(context.family, context.sharedTokens, -1);
    context.family = family;
    context.sharedTokens = sharedTokens;
  }

  grow(context: Context, { contextTokens, cachedTokens, sharedTokens }: CacheFootprint): void {
    // None of its own tokens were cached: the engine had evicted them, or the context is new.
    if (cachedTokens !== undefined && cachedTokens <= sharedTokens) context.ownTokens = 0;
    const knownTokens = Math.max(
      sharedTokens,
      cachedTokens ?? Math.min(contextTokens, context.ownTokens + sharedTokens),
    );
    const mostTokens = contextTokens + this.capacityTokens * BRANCH_SHARE_MAX;
    context.ownTokens = Math.min(context.ownTokens + Math.max(0, contextTokens - knownTokens), mostTokens);
  }

  get tokens(): number {
    return this.#kvTokens + this.onHostTokens;
  }

  onHostTokensOf(program: Program): number {
    return this.of(program).reduce((sum, { isOnHost, cachedTokens }) => sum + (isOnHost ? cachedTokens : 0), 0);
  }

  get #kvTokens(): number {
    return this.#tokens + this.#shared.tokens;
  }

  /**
   * The longest-idle context while the contents of all gateways exceed the capacity, host included, else undefined. Each
   * gateway loses the whole excess at once. If each lost its part, recorded agents at three gateways took 5 % longer.
   */
  surplus(): Context | undefined {
    if (this.hostTokens > 0) this.#offloadSurplus();
    if (this.tokens + this.othersTokens <= this.capacityTokens + this.hostTokens) return undefined;
    for (const context of this.idle()) return context;
    return undefined;
  }

  #offloadSurplus(): void {
    for (const context of this.#idle) {
      if (this.#kvTokens + this.othersTokens <= this.capacityTokens) return;
      this.offload(context);
    }
  }

  offload(context: Context): void {
    this.#idle.delete(context);
    this.#move(context, true);
    this.onHost.add(context);
  }

  #move(context: Context, isOnHost: boolean): void {
    this.#count(context, -1);
    context.isOnHost = isOnHost;
    this.#count(context, 1);
  }

  /** Counts the context's tokens where it is. The host's part of a shared prefix is small, and not counted. */
  #count({ isOnHost, cachedTokens, family, sharedTokens }: Context, sign: 1 | -1): void {
    if (isOnHost) return void (this.onHostTokens += sign * cachedTokens);
    this.#tokens += sign * cachedTokens;
    this.#shared.count(family, sharedTokens, sign);
  }

  drop(context: Context): void {
    this.#idle.delete(context);
    this.onHost.delete(context);
    this.#abandoned.delete(context);
    this.#count(context, -1);
    const threads = this.#contexts.get(context.program);
    threads?.delete(context.thread);
    if (threads?.size === 0) this.#contexts.delete(context.program);
  }

  /** The idle context's program is over. Returns the context to drop if there are too many of such. */
  abandon(context: Context): Context | undefined {
    this.#abandoned.add(context);
    if (this.#abandoned.size > ABANDONED_MAX) for (const first of this.#abandoned) return first;
    return undefined;
  }

  /** Restores contexts that were dropped by mistake. @param contexts longest idle first: they precede all others */
  readmit(contexts: readonly Context[]): void {
    for (const context of contexts) {
      this.#insert(context);
      this.#count(context, 1);
    }
    this.onHost = new Set([...contexts.filter(({ isOnHost }) => isOnHost), ...this.onHost]);
    this.#idle = new Set([...contexts.filter(({ isOnHost }) => !isOnHost), ...this.#idle]);
  }

  #insert(context: Context): void {
    let threads = this.#contexts.get(context.program);
    if (threads === undefined) this.#contexts.set(context.program, (threads = new Map<string, Context>()));
    threads.set(context.thread, context);
  }
}
