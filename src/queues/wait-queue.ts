import type { Accounts } from '../programs/accounts.js';
import { TurnQueue, type Queued } from './turn-queue.js';

/** The rule by which a waiting call is admitted. */
export type AdmissionClass =
  | 'resident' // its own context is still cached: idle contexts make way
  | 'aged' // has waited `reserveMs`: idle contexts make way, for one such call each `turnMs`
  | 'new'; // takes only room that is neither in flight nor claimed by idle contexts

/** KV tokens that an engine's gate now allows a call of each admission class. */
export type Headroom = Readonly<Record<AdmissionClass, number>>;

export interface Waiting extends Queued {
  readonly admissionClass: AdmissionClass;
  readonly isAged: boolean;
}

/** Waiting calls with the same choice of engines, by admission class. */
export class WaitQueue<T extends Waiting> {
  readonly #classes: Readonly<Record<AdmissionClass, TurnQueue<T>>> = {
    resident: new TurnQueue((call) => call.extraTokens),
    aged: new TurnQueue((call) => call.extraTokens),
    new: new TurnQueue((call) => call.extraTokens),
  };
  /** Calls that have waited `reserveMs`, of any admission class: none as a rule. */
  readonly #aged = new TurnQueue<T>(() => 0);

  get size(): number {
    const { resident, aged, new: fresh } = this.#classes;
    return resident.size + aged.size + fresh.size;
  }

  get residents(): number {
    return this.#classes.resident.size;
  }

  insert(call: T): void {
    this.#classes[call.admissionClass].insert(call);
    if (call.isAged) this.#aged.insert(call);
  }

  delete(call: T): void {
    this.#classes[call.admissionClass].delete(call);
    if (call.isAged) this.#aged.delete(call);
  }

  /** Some calls' `extraTokens` have changed. O(calls). */
  refresh(): void {
    for (const queue of Object.values(this.#classes)) queue.refresh();
    this.#aged.refresh();
  }

  countLevels(sums: number[]): void {
    for (const queue of Object.values(this.#classes)) queue.countLevels(sums);
  }

  /** Number of waiting calls of its turn and class at levels up to `level` that this one, the last, cannot pass. */
  ahead(call: T, level: number): number {
    return this.#classes[call.admissionClass].ahead(call, level);
  }

  /** The first call, in order, that fits by its own need, and in all. */
  firstFit(room: Headroom, accounts: Accounts, fits: (call: T) => boolean): T | undefined {
    const { resident, aged, new: fresh } = this.#classes;
    const early = accounts.firstOf(
      resident.firstFit(room.resident, accounts, fits),
      aged.firstFit(room.aged, accounts, fits),
    );
    return accounts.firstOf(early, fresh.firstFit(room.new, accounts, fits));
  }

  first(accounts: Accounts): T | undefined {
    const { resident, aged, new: fresh } = this.#classes;
    return accounts.firstOf(accounts.firstOf(resident.first(accounts), aged.first(accounts)), fresh.first(accounts));
  }

  /** The first call that may reserve room, whether it fits or not. */
  firstAged(accounts: Accounts): T | undefined {
    return this.#aged.first(accounts);
  }

  *[Symbol.iterator](): IterableIterator<T> {
    for (const queue of Object.values(this.#classes)) yield* queue;
  }
}
