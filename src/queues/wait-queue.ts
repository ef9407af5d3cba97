import type { Accounts } from '../programs/accounts.js';
import { Lane, type Headroom, type Waiting } from './lane.js';
import { Lanes } from './lanes.js';

/** Waiting calls with the same choice of engines: a lane for each turn. */
export class WaitQueue<T extends Waiting> {
  readonly #lanes = new Lanes<Lane<T>>(() => new Lane());

  get size(): number {
    let size = 0;
    for (const lane of this.#lanes) size += lane.size;
    return size;
  }

  insert(call: T): void {
    this.#lanes.of(call.turn).insert(call);
  }

  delete(call: T): void {
    this.#lanes.of(call.turn).delete(call);
    this.#lanes.tidy(call.turn);
  }

  /** Recomputes each call's need. */
  refresh(needOf: (call: T) => number): void {
    for (const lane of this.#lanes) lane.refresh(needOf);
  }

  /** Adds the number of waiting calls at each level to `sums`. */
  countLevels(sums: number[]): void {
    for (const lane of this.#lanes) lane.countLevels(sums);
  }

  /** Number of waiting calls of its own turn at levels up to `level` that this call, the last to arrive, cannot pass. */
  ahead(call: T, level: number): number {
    return this.#lanes.of(call.turn).ahead(call, level);
  }

  /** The first call, in order, that fits. */
  firstFit(room: Headroom, accounts: Accounts): T | undefined {
    return this.#lanes.first(accounts, (lane) => lane.firstFit(room));
  }

  /** The first call, in order. */
  first(accounts: Accounts): T | undefined {
    return this.#lanes.first(accounts, (lane) => lane.first);
  }

  /** The first call that may reserve room, whether it fits or not. */
  firstAged(accounts: Accounts): T | undefined {
    return this.#lanes.first(accounts, (lane) => lane.firstAged);
  }

  *[Symbol.iterator](): IterableIterator<T> {
    for (const lane of this.#lanes) yield* lane;
  }
}
