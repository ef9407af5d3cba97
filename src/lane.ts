import type { Call } from './call.js';
import { before, FitTree } from './fit-tree.js';

/** KV tokens that an engine's gate has for a call now. */
export interface Room {
  /** Beside what is in flight and what is kept for idle programs. */
  readonly spareTokens: number;
  /** Beside what is in flight. */
  readonly wholeTokens: number;
}

/**
 * Waiting calls with the same choice of engines, in order.
 *
 *     entitled   may take the place of idle programs: its own context is still cached (it is coming back), or it has waited
 *                `reserveMs`. Fits when its need is within `wholeTokens`.
 *     others     must leave idle programs their place. Fit when their need is within `spareTokens`.
 */
export class Lane {
  readonly #entitled = new FitTree<Call>();
  readonly #others = new FitTree<Call>();

  get size(): number {
    return this.#entitled.size + this.#others.size;
  }

  insert(call: Call): void {
    this.#treeOf(call).insert(call, call, call.extraTokens);
  }

  delete(call: Call): void {
    this.#treeOf(call).delete(call);
  }

  /** The first call, in order, that fits. */
  firstFit(room: Room): Call | undefined {
    return firstOf(this.#entitled.firstFit(room.wholeTokens), this.#others.firstFit(room.spareTokens));
  }

  /** The first entitled call, fit or not. */
  get firstEntitled(): Call | undefined {
    return this.#entitled.first();
  }

  *[Symbol.iterator](): IterableIterator<Call> {
    yield* this.#entitled;
    yield* this.#others;
  }

  #treeOf(call: Call): FitTree<Call> {
    return call.entitled ? this.#entitled : this.#others;
  }
}

export function firstOf(a: Call | undefined, b: Call | undefined): Call | undefined {
  if (a === undefined) return b;
  return b !== undefined && before(b, a) ? b : a;
}
