import { invariant } from '../invariant.js';
import type { Turned } from '../programs/account.js';
import type { Accounts } from '../programs/accounts.js';
import { FitTree } from './fit-tree.js';
import { Lanes } from './lanes.js';

interface Stealable extends Turned {
  /** Tokens that it counts in the working set of another engine. */
  readonly countedTokens: number;
}

/** Calls that wait for one engine and may be taken by others: for each turn, a tree in order. */
export class StealableQueue<T extends Stealable> {
  readonly #lanes = new Lanes<FitTree<T>>(() => new FitTree());

  insert(call: T): void {
    this.#lanes.of(call.turn).insert(call, call, call.countedTokens);
  }

  delete(call: T): void {
    invariant(this.#lanes.of(call.turn).delete(call), 'a stealable call is among the stealable');
    this.#lanes.tidy(call.turn);
  }

  /** Reads each call's need anew. */
  refresh(): void {
    for (const lane of this.#lanes) lane.refresh((call) => call.countedTokens);
  }

  /** The first call, in order, that fits by its own need, and in all (`fits`). */
  firstFit(room: number, accounts: Accounts, fits: (call: T) => boolean): T | undefined {
    return this.#lanes.first(accounts, (lane) => lane.firstFit(room, fits));
  }

  *[Symbol.iterator](): IterableIterator<T> {
    for (const lane of this.#lanes) yield* lane;
  }
}
