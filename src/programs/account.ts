import { invariant } from '../invariant.js';
import type { ModelId, TenantId } from '../protocol/units.js';
import type { Key } from '../queues/fit-tree.js';

/** Engine time of one tenant's calls, or of all calls where tenants are not told apart. */
export class Account {
  /** Engine time of its calls in milliseconds, which fades; as of the last change of any account. */
  attainedMs = 0;
  inFlight = 0;
  readonly #inFlightOf = new Map<ModelId, number>();
  /** Number of waiting calls, and of those among them past `starvation.waitMsMax`. */
  waiting = 0;
  overdue = 0;
  /** Engine time that its programs need each millisecond to meet their deadlines. */
  urgency = 0;
  /** Factor on its weight, for its urgency. */
  factor = 1;

  /** @param tenant undefined: all tenants */
  constructor(
    readonly tenant: TenantId | undefined,
    public weight: number,
  ) {}

  get isActive(): boolean {
    return this.waiting > 0 || this.inFlight > 0;
  }

  /** Weight of its claim on engine time. */
  get claim(): number {
    return this.weight * this.factor;
  }

  inFlightOf(model: ModelId): number {
    return this.#inFlightOf.get(model) ?? 0;
  }

  /** A call of the model has begun, or no longer runs. */
  change(model: ModelId, change: 1 | -1): void {
    const left = this.inFlightOf(model) + change;
    invariant(left >= 0, 'no account has fewer than no calls in flight');
    this.inFlight += change;
    if (left === 0) this.#inFlightOf.delete(model);
    else this.#inFlightOf.set(model, left);
  }
}

/** The facts of a waiting call that decide its turn. */
export interface Turned extends Key {
  readonly account: Account;
  readonly model: ModelId;
  /** Past `starvation.waitMsMax`. */
  readonly overdue: boolean;
}
