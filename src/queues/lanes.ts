import type { Account, Turned } from '../programs/account.js';
import type { Accounts } from '../programs/accounts.js';

/** Waiting calls by account, a lane each. With one account for all tenants there is one lane. */
export class Lanes<Lane extends { readonly size: number }> {
  readonly #lanes = new Map<Account, Lane>();

  constructor(private readonly make: () => Lane) {}

  /** The account's lane, made if it is missing. */
  of(account: Account): Lane {
    let lane = this.#lanes.get(account);
    if (lane === undefined) this.#lanes.set(account, (lane = this.make()));
    return lane;
  }

  /** Drops the account's lane if it is empty. The only lane stays, so that it is not made for each call anew. */
  tidy(account: Account): void {
    if (this.#lanes.size > 1 && this.#lanes.get(account)?.size === 0) this.#lanes.delete(account);
  }

  /**
   * The first call, in order of turns, among those that `find` gives for the lanes. O(lanes), and of lanes in random
   * order only O(log lanes) are searched.
   */
  first<T extends Turned>(accounts: Accounts, find: (lane: Lane) => T | undefined): T | undefined {
    let first: T | undefined;
    for (const [account, lane] of this.#lanes)
      if (first === undefined || accounts.mayPrecede(account, first)) first = accounts.firstOf(first, find(lane));
    return first;
  }

  [Symbol.iterator](): IterableIterator<Lane> {
    return this.#lanes.values();
  }
}
