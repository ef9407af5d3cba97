import { invariant } from '../invariant.js';
import type { ModelId, TenantId } from '../protocol/units.js';
import type { Key } from '../queues/fit-tree.js';

export class Account {
  /** Engine time of its calls in milliseconds, which fades; as of the last change of any account. */
  attainedMs = 0;
  inFlight = 0;
  waiting = 0;
  readonly #turns = new Map<ModelId | undefined, Turn>();

  /** @param tenant undefined: all tenants */
  constructor(
    readonly tenant: TenantId | undefined,
    public weight: number,
  ) {}

  get isActive(): boolean {
    return this.waiting > 0 || this.inFlight > 0;
  }

  /** The turn of its calls for the model; one for all models where tenants are not told apart. */
  turnFor(model: ModelId): Turn {
    const key = this.tenant === undefined ? undefined : model;
    let turn = this.#turns.get(key);
    if (turn === undefined) this.#turns.set(key, (turn = new Turn(this)));
    return turn;
  }
}

/** The turn that calls wait for: that of their tenant, on their model. Their waiting queues have a lane for it. */
export class Turn {
  #inFlight = 0;
  #overdue = 0;
  /** When one of its calls last began or stopped. */
  #ranAtMs = -Infinity;

  /** In the order, as of a stamp of `Accounts`. */
  place = 0;
  placeStamp = -1;

  constructor(readonly account: Account) {}

  /** Whether a call is overdue, and none has run since that time. */
  isStarving(sinceMs: number): boolean {
    return this.#overdue > 0 && this.#inFlight === 0 && this.#ranAtMs <= sinceMs;
  }

  runs(change: 1 | -1, nowMs: number): void {
    this.#ranAtMs = nowMs;
    this.#inFlight += change;
    this.account.inFlight += change;
    invariant(this.#inFlight >= 0, 'no turn has fewer than no calls in flight');
  }

  waits(change: 1 | -1, isOverdue: boolean): void {
    this.account.waiting += change;
    if (isOverdue) {
      this.#overdue += change;
      this.placeStamp = -1;
    }
    invariant(this.#overdue >= 0 && this.account.waiting >= this.#overdue, 'overdue calls wait');
  }
}

/** The facts of a waiting call that turns need. */
export interface Turned extends Key {
  readonly turn: Turn;
}
