import type { Family } from '../protocol/events.js';
import type { Program } from '../programs/process-table.js';
import { newContext, type Context } from './context.js';
import { SharedHoldings } from './shared-prefixes.js';
import type { CacheFootprint } from './footprint.js';

/**
 * Most of a cache that branches which nothing goes on from count: a tree that is searched for hours has long lost most of
 * them.
 */
const BRANCH_SHARE_MAX = 1 / 16;

/**
 * The contexts that one engine's KV cache holds, by our own count: whatever was used last and fits the capacity, as in the
 * engine's own LRU. A context that newer ones have pushed out is gone, whatever the gate wanted to keep. A context takes
 * all that it has put in, as branches that nothing goes on from fill the cache as well; what a family shares is there once.
 */
export class CacheContents {
  /** Most tokens that it can hold. */
  capacityTokens = Infinity;
  readonly #contexts = new Map<Program, Map<string, Context>>();
  /** Longest idle first. */
  #idle = new Set<Context>();
  #tokens = 0;
  readonly #shared = new SharedHoldings();

  get(program: Program, thread: string): Context | undefined {
    return this.#contexts.get(program)?.get(thread);
  }

  of(program: Program): Context[] {
    return [...(this.#contexts.get(program)?.values() ?? [])];
  }

  get idle(): Iterable<Context> {
    return this.#idle;
  }

  /** A context of the thread, which has none. */
  open(program: Program, thread: string): Context {
    const context = newContext(program, thread);
    this.#insert(context);
    return context;
  }

  /** The context is in use: it cannot be pushed out. */
  activate(context: Context): void {
    context.state = 'active';
    this.#idle.delete(context);
  }

  /** The context is used no more; it is the last to be pushed out. */
  rest(context: Context): void {
    context.state = 'idle';
    this.#idle.add(context);
  }

  /** Its size, what it shares apart, and its share of its family. */
  resize(context: Context, tokens: number, family: Family | undefined, sharedTokens: number): void {
    this.#tokens += tokens - context.cachedTokens;
    context.cachedTokens = tokens;
    if (family?.id === context.family?.id && sharedTokens === context.sharedTokens) return;
    this.#shared.add(family, sharedTokens);
    this.#shared.delete(context.family, context.sharedTokens);
    context.family = family;
    context.sharedTokens = sharedTokens;
  }

  /** A call has left this in the context. */
  grow(context: Context, { contextTokens, cachedTokens, sharedTokens }: CacheFootprint): void {
    // Nothing of its own was cached: the engine had dropped it, or it is new.
    if (cachedTokens !== undefined && cachedTokens <= sharedTokens) context.ownTokens = 0;
    const knownTokens = Math.max(
      sharedTokens,
      cachedTokens ?? Math.min(contextTokens, context.ownTokens + sharedTokens),
    );
    const mostTokens = contextTokens + this.capacityTokens * BRANCH_SHARE_MAX;
    context.ownTokens = Math.min(context.ownTokens + Math.max(0, contextTokens - knownTokens), mostTokens);
  }

  /** The longest-idle context, while all together exceed the capacity. */
  get surplus(): Context | undefined {
    if (this.#tokens + this.#shared.tokens <= this.capacityTokens) return undefined;
    for (const context of this.#idle) return context;
    return undefined;
  }

  drop(context: Context): void {
    this.#idle.delete(context);
    this.#tokens -= context.cachedTokens;
    this.#shared.delete(context.family, context.sharedTokens);
    const threads = this.#contexts.get(context.program);
    threads?.delete(context.thread);
    if (threads?.size === 0) this.#contexts.delete(context.program);
  }

  /** Idle contexts that were dropped by mistake, longest idle first, are back in their places: before all others. */
  readmit(contexts: readonly Context[]): void {
    for (const context of contexts) {
      this.#insert(context);
      this.#tokens += context.cachedTokens;
      this.#shared.add(context.family, context.sharedTokens);
    }
    this.#idle = new Set([...contexts, ...this.#idle]);
  }

  #insert(context: Context): void {
    let threads = this.#contexts.get(context.program);
    if (threads === undefined) this.#contexts.set(context.program, (threads = new Map<string, Context>()));
    threads.set(context.thread, context);
  }
}
