import type { Accounts } from '../programs/accounts.js';
import { Lane, type Headroom, type Waiting } from './lane.js';
import { Lanes } from './lanes.js';

/** Waiting calls with the same choice of engines: a lane for each account, which its tenant's turn opens. */
export class WaitQueue<T extends Waiting> {
  readonly #lanes = new Lanes<Lane<T>>(() => new Lane());

  get size(): number {
    let size = 0;
    for (const lane of this.#lanes) size += lane.size;
    return size;
  }

  insert(call: T): void {
    this.#lanes.of(call.account).insert(call);
  }

  delete(call: T): void {
    this.#lanes.of(call.account).delete(call);
    this.#lanes.tidy(call.account);
  }

  /** Recomputes each call's need. */
  refresh(needOf: (call: T) => number): void {
    for (const lane of this.#lanes) lane.refresh(needOf);
  }

  /** Number of its own account's waiting calls at levels up to `level` that this call, the last to arrive, cannot pass. */
  ahead(call: T, level: number): number {
    return this.#lanes.of(call.account).ahead(call, level);
  }

  /** The first call, in order, that fits. */
  firstFit(room: Headroom, accounts: Accounts): T | undefined {
    return this.#lanes.first(accounts, (lane) => lane.firstFit(room));
  }

  /** The first call that may reserve room, whether it fits or not. */
  firstAged(accounts: Accounts): T | undefined {
    return this.#lanes.first(accounts, (lane) => lane.firstAged);
  }

  *[Symbol.iterator](): IterableIterator<T> {
    for (const lane of this.#lanes) yield* lane;
  }
}
