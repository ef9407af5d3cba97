import { invariant } from '../invariant.js';
import type { Call } from '../programs/call.js';
import { Backlog } from './backlog.js';
import { before, FitTree } from './fit-tree.js';

/** How a waiting call is let in. */
export type AdmissionClass =
  | 'resident' // its own context is still cached: idle programs make way
  | 'aged' // has waited `reserveMs`: idle programs make way, one such call at a time
  | 'new'; // takes only what is neither in flight nor kept for idle programs

/** Most KV tokens that an engine's gate allows each kind of call now. */
export type Headroom = Readonly<Record<AdmissionClass, number>>;

/** Waiting calls with the same choice of engines: for each kind of entry, a tree in order of (level, rank, seq). */
export class WaitQueue {
  readonly #trees: Readonly<Record<AdmissionClass, FitTree<Call>>> = {
    resident: new FitTree(),
    aged: new FitTree(),
    new: new FitTree(),
  };
  readonly #backlogs: Readonly<Record<AdmissionClass, Backlog>> = {
    resident: new Backlog(),
    aged: new Backlog(),
    new: new Backlog(),
  };
  /** Those that have waited `reserveMs`, however they are let in. */
  readonly #aged = new FitTree<Call>();

  get size(): number {
    return this.#trees.resident.size + this.#trees.aged.size + this.#trees.new.size;
  }

  insert(call: Call): void {
    this.#trees[call.admissionClass].insert(call, call, call.extraTokens);
    this.#backlogs[call.admissionClass].add(call, 1);
    if (call.isAged) this.#aged.insert(call, call, 0);
  }

  delete(call: Call): void {
    invariant(this.#trees[call.admissionClass].delete(call), 'a waiting call is in the queue of its admission class');
    this.#backlogs[call.admissionClass].add(call, -1);
    if (call.isAged) invariant(this.#aged.delete(call), 'an aged call is among the aged');
  }

  /** Reads anew what each call needs. */
  refresh(needOf: (call: Call) => number): void {
    for (const tree of Object.values(this.#trees)) tree.refresh(needOf);
    for (const [name, backlog] of Object.entries(this.#backlogs)) backlog.reset(this.#trees[name as AdmissionClass]);
  }

  /** Waiting calls at levels up to `level` that this one, which came last, does not pass. O(levels). */
  ahead(call: Call, level: number): number {
    return this.#backlogs[call.admissionClass].ahead(call, level);
  }

  /** The first call, in order, that fits. */
  firstFit(room: Headroom): Call | undefined {
    const { resident, aged, new: fresh } = this.#trees;
    return firstOf(firstOf(resident.firstFit(room.resident), aged.firstFit(room.aged)), fresh.firstFit(room.new));
  }

  /** The first call that room is to be kept for, fit or not. */
  get firstAged(): Call | undefined {
    return this.#aged.first();
  }

  *[Symbol.iterator](): IterableIterator<Call> {
    yield* this.#trees.resident;
    yield* this.#trees.aged;
    yield* this.#trees.new;
  }
}

export function firstOf(a: Call | undefined, b: Call | undefined): Call | undefined {
  if (a === undefined) return b;
  return b !== undefined && before(b, a) ? b : a;
}
