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
  /** Those that have waited `reserveMs`, however they are let in. */
  readonly #kept = new FitTree<Call>();

  get size(): number {
    return this.#trees.returning.size + this.#trees.insistent.size + this.#trees.patient.size;
  }

  insert(call: Call): void {
    this.#trees[call.entry].insert(call, call, call.extraTokens);
    if (call.insistent) this.#kept.insert(call, call, 0);
  }

  delete(call: Call): void {
    this.#trees[call.entry].delete(call);
    if (call.insistent) this.#kept.delete(call);
  }

  /** Reads anew what each call needs. */
  refresh(needOf: (call: Call) => number): void {
    for (const tree of Object.values(this.#trees)) tree.refresh(needOf);
  }

  /** The first call, in order, that fits. */
  firstFit(room: Room): Call | undefined {
    const { returning, insistent, patient } = this.#trees;
    return firstOf(
      firstOf(returning.firstFit(room.returning), insistent.firstFit(room.insistent)),
      patient.firstFit(room.patient),
    );
  }

  /** The first call that room is to be kept for, fit or not. */
  get firstKept(): Call | undefined {
    return this.#kept.first();
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
