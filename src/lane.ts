import type { Call } from './call.js';
import { before, FitTree } from './fit-tree.js';

/** How a waiting call is let in. */
export type Entry =
  | 'returning' // its own context is still cached: idle programs make way
  | 'insistent' // has waited `reserveMs`: idle programs make way, one such call at a time
  | 'patient'; // takes only what is neither in flight nor kept for idle programs

/** Most KV tokens that an engine's gate allows each kind of call now. */
export type Room = Readonly<Record<Entry, number>>;

/** Waiting calls with the same choice of engines: for each kind of entry, a tree in order of (level, rank, seq). */
export class Lane {
  readonly #trees: Readonly<Record<Entry, FitTree<Call>>> = {
    returning: new FitTree(),
    insistent: new FitTree(),
    patient: new FitTree(),
  };

  get size(): number {
    return this.#trees.returning.size + this.#trees.insistent.size + this.#trees.patient.size;
  }

  insert(call: Call): void {
    this.#trees[call.entry].insert(call, call, call.extraTokens);
  }

  delete(call: Call): void {
    this.#trees[call.entry].delete(call);
  }

  /** The first call, in order, that fits. */
  firstFit(room: Room): Call | undefined {
    const { returning, insistent, patient } = this.#trees;
    return firstOf(
      firstOf(returning.firstFit(room.returning), insistent.firstFit(room.insistent)),
      patient.firstFit(room.patient),
    );
  }

  /** The first insistent call, fit or not. */
  get firstInsistent(): Call | undefined {
    return this.#trees.insistent.first();
  }

  *[Symbol.iterator](): IterableIterator<Call> {
    yield* this.#trees.returning;
    yield* this.#trees.insistent;
    yield* this.#trees.patient;
  }
}

export function firstOf(a: Call | undefined, b: Call | undefined): Call | undefined {
  if (a === undefined) return b;
  return b !== undefined && before(b, a) ? b : a;
}
