import type { Accounts } from '../programs/accounts.js';
import { type AdmissionClass, Lane, type Headroom, type Waiting } from './lane.js';
import { Lanes } from './lanes.js';

/** Waiting calls with the same choice of engines: a lane for each turn. */
export class WaitQueue<T extends Waiting> {
  readonly #lanes = new Lanes<Lane<T>>(() => new Lane());
  /** No call of the class needs less. With it, a queue where nothing fits is not searched. Undefined: to be read anew. */
  #least: Record<AdmissionClass, number> | undefined;
  /** Calls that have waited `reserveMs`: none as a rule. */
  #aged = 0;

  get size(): number {
    let size = 0;
    for (const lane of this.#lanes) size += lane.size;
    return size;
  }

  insert(call: T): void {
    this.#lanes.of(call.turn).insert(call);
    if (call.isAged) this.#aged += 1;
    const { admissionClass, extraTokens } = call;
    if (this.#least !== undefined) this.#least[admissionClass] = Math.min(this.#least[admissionClass], extraTokens);
  }

  delete(call: T): void {
    this.#lanes.of(call.turn).delete(call);
    this.#lanes.tidy(call.turn);
    if (call.isAged) this.#aged -= 1;
    if (this.#least !== undefined && call.extraTokens <= this.#least[call.admissionClass]) this.#least = undefined;
  }

  /** Recomputes each call's need. */
  refresh(needOf: (call: T) => number): void {
    for (const lane of this.#lanes) lane.refresh(needOf);
    this.#least = undefined;
  }

  /** Adds the number of waiting calls at each level to `sums`. */
  countLevels(sums: number[]): void {
    for (const lane of this.#lanes) lane.countLevels(sums);
  }

  /** Number of waiting calls of its own turn at levels up to `level` that this call, the last to arrive, cannot pass. */
  ahead(call: T, level: number): number {
    return this.#lanes.of(call.turn).ahead(call, level);
  }

  /** The first call, in order, that fits by its own need, and in all (`fits`). */
  firstFit(room: Headroom, accounts: Accounts, fits: (call: T) => boolean): T | undefined {
    return this.#mayFit(room) ? this.#lanes.first(accounts, (lane) => lane.firstFit(room, fits)) : undefined;
  }

  #mayFit(room: Headroom): boolean {
    if (this.#least === undefined) {
      this.#least = { resident: Infinity, aged: Infinity, new: Infinity };
      for (const lane of this.#lanes) lane.lower(this.#least);
    }
    const { resident, aged, new: fresh } = this.#least;
    return resident <= room.resident || aged <= room.aged || fresh <= room.new;
  }

  /** The first call, in order. */
  first(accounts: Accounts): T | undefined {
    return this.#lanes.first(accounts, (lane) => lane.first);
  }

  /** The first call that may reserve room, whether it fits or not. */
  firstAged(accounts: Accounts): T | undefined {
    return this.#aged === 0 ? undefined : this.#lanes.first(accounts, (lane) => lane.firstAged);
  }

  *[Symbol.iterator](): IterableIterator<T> {
    for (const lane of this.#lanes) yield* lane;
  }
}
