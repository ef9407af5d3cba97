import { invariant } from '../invariant.js';
import type { Turned } from '../programs/account.js';
import { Backlog, type Counted } from './backlog.js';
import { before, FitTree, type Key } from './fit-tree.js';

/** The rule by which a waiting call is admitted. */
export type AdmissionClass =
  | 'resident' // its own context is still cached: idle contexts make way
  | 'aged' // has waited `reserveMs`: idle contexts make way, for one such call each `turnMs`
  | 'new'; // takes only room that is neither in flight nor claimed by idle contexts

/** KV tokens that an engine's gate now allows a call of each admission class. */
export type Headroom = Readonly<Record<AdmissionClass, number>>;

/** An entry of a queue: a call that waits. */
export interface Waiting extends Turned, Counted {
  readonly admissionClass: AdmissionClass;
  readonly isAged: boolean;
}

/** Waiting calls of one turn in a queue: for each admission class, a tree in order of (level, rank, seq). */
export class Lane<T extends Waiting> {
  readonly #trees: Readonly<Record<AdmissionClass, FitTree<T>>> = {
    resident: new FitTree(),
    aged: new FitTree(),
    new: new FitTree(),
  };
  readonly #backlogs: Readonly<Record<AdmissionClass, Backlog>> = {
    resident: new Backlog(),
    aged: new Backlog(),
    new: new Backlog(),
  };
  /** Calls that have waited `reserveMs`, of any admission class. */
  readonly #aged = new FitTree<T>();

  get size(): number {
    return this.#trees.resident.size + this.#trees.aged.size + this.#trees.new.size;
  }

  insert(call: T): void {
    this.#trees[call.admissionClass].insert(call, call, call.extraTokens);
    this.#backlogs[call.admissionClass].add(call, 1);
    if (call.isAged) this.#aged.insert(call, call, 0);
  }

  delete(call: T): void {
    invariant(this.#trees[call.admissionClass].delete(call), 'a waiting call is in the queue of its admission class');
    this.#backlogs[call.admissionClass].add(call, -1);
    if (call.isAged) invariant(this.#aged.delete(call), 'an aged call is among the aged');
  }

  /** Recomputes each call's need. */
  refresh(needOf: (call: T) => number): void {
    for (const tree of Object.values(this.#trees)) tree.refresh(needOf);
    for (const [name, backlog] of Object.entries(this.#backlogs)) backlog.reset(this.#trees[name as AdmissionClass]);
  }

  /** Adds the number of waiting calls at each level to `sums`. */
  countLevels(sums: number[]): void {
    for (const { calls } of Object.values(this.#backlogs))
      calls.forEach((count, level) => (sums[level] = (sums[level] ?? 0) + count));
  }

  /** Number of waiting calls at levels up to `level` that this one, the last to arrive, cannot pass. O(levels). */
  ahead(call: T, level: number): number {
    return this.#backlogs[call.admissionClass].ahead(call, level);
  }

  /** Lowers each class's least need to that of its calls here. */
  lower(least: Record<AdmissionClass, number>): void {
    least.resident = Math.min(least.resident, this.#trees.resident.least);
    least.aged = Math.min(least.aged, this.#trees.aged.least);
    least.new = Math.min(least.new, this.#trees.new.least);
  }

  /** The first call, in order, that fits by its own need, and in all (`fits`). */
  firstFit(room: Headroom, fits: (call: T) => boolean): T | undefined {
    const { resident, aged, new: fresh } = this.#trees;
    const early = firstOf(resident.firstFit(room.resident, fits), aged.firstFit(room.aged, fits));
    return firstOf(early, fresh.firstFit(room.new, fits));
  }

  /** The first call, in order. */
  get first(): T | undefined {
    const { resident, aged, new: fresh } = this.#trees;
    return firstOf(firstOf(resident.first(), aged.first()), fresh.first());
  }

  /** The first call that may reserve room, whether it fits or not. */
  get firstAged(): T | undefined {
    return this.#aged.first();
  }

  *[Symbol.iterator](): IterableIterator<T> {
    yield* this.#trees.resident;
    yield* this.#trees.aged;
    yield* this.#trees.new;
  }
}

function firstOf<T extends Key>(a: T | undefined, b: T | undefined): T | undefined {
  if (a === undefined) return b;
  return b !== undefined && before(b, a) ? b : a;
}
