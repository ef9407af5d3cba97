import type { Turn, Turned } from '../programs/account.js';
import type { Accounts } from '../programs/accounts.js';

/** Waiting calls by the turn that they wait for, a lane each. Where tenants are not told apart there is one lane. */
export class Lanes<Lane extends { readonly size: number }> {
  readonly #lanes = new Map<Turn, Lane>();

  constructor(private readonly make: () => Lane) {}

  /** The turn's lane, made if it is missing. */
  of(turn: Turn): Lane {
    let lane = this.#lanes.get(turn);
    if (lane === undefined) this.#lanes.set(turn, (lane = this.make()));
    return lane;
  }

  /** Drops the turn's lane if it is empty. The only lane stays, so that it is not made for each call anew. */
  tidy(turn: Turn): void {
    if (this.#lanes.size > 1 && this.#lanes.get(turn)?.size === 0) this.#lanes.delete(turn);
  }

  /**
   * The first call, in order of turns, among those that `find` gives for the lanes. O(lanes), and of lanes in random
   * order only O(log lanes) are searched.
   */
  first<T extends Turned>(accounts: Accounts, find: (lane: Lane) => T | undefined): T | undefined {
    let first: T | undefined;
    for (const [turn, lane] of this.#lanes)
      if (first === undefined || accounts.mayPrecede(turn, first.turn)) first = accounts.firstOf(first, find(lane));
    return first;
  }

  [Symbol.iterator](): IterableIterator<Lane> {
    return this.#lanes.values();
  }
}
