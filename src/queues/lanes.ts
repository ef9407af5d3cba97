import type { Turn, Turned } from '../programs/account.js';
import type { Accounts } from '../programs/accounts.js';

interface Entry<Lane> {
  readonly turn: Turn;
  readonly lane: Lane;
  index: number;
}

/** Waiting calls by the turn that they wait for, a lane each. Where tenants are not told apart there is one lane. */
export class Lanes<Lane extends { readonly size: number }> {
  readonly #byTurn = new Map<Turn, Entry<Lane>>();
  /** The same, unordered: an array is searched several times as fast. */
  readonly #entries: Entry<Lane>[] = [];

  constructor(private readonly make: () => Lane) {}

  /** The turn's lane, made if it is missing. */
  of(turn: Turn): Lane {
    let entry = this.#byTurn.get(turn);
    if (entry === undefined) {
      entry = { turn, lane: this.make(), index: this.#entries.length };
      this.#byTurn.set(turn, entry);
      this.#entries.push(entry);
    }
    return entry.lane;
  }

  /** Drops the turn's lane if it is empty. The only lane stays, so that it is not made for each call anew. */
  tidy(turn: Turn): void {
    const entry = this.#byTurn.get(turn);
    if (entry === undefined || entry.lane.size > 0 || this.#entries.length === 1) return;
    this.#byTurn.delete(turn);
    const last = this.#entries.pop() as Entry<Lane>;
    if (last === entry) return;
    this.#entries[entry.index] = last;
    last.index = entry.index;
  }

  /**
   * The first call, in order of turns, among those that `find` gives for the lanes. O(lanes), and of lanes in random
   * order only O(log lanes) are searched.
   */
  first<T extends Turned>(accounts: Accounts, find: (lane: Lane) => T | undefined): T | undefined {
    let first: T | undefined;
    for (const { turn, lane } of this.#entries)
      if (first === undefined || accounts.mayPrecede(turn, first.turn)) first = accounts.firstOf(first, find(lane));
    return first;
  }

  *[Symbol.iterator](): IterableIterator<Lane> {
    for (const { lane } of this.#entries) yield lane;
  }
}
