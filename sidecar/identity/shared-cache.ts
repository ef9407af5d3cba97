import { LRUCache } from 'lru-cache';
import type { TenantId } from '../../src/index.js';

/**
 * A bounded cache shared by tenants. No tenant reads another's entries, so a crafted key affects only its author's. A
 * full cache drops the oldest entry of a tenant with at least an equal share. So no tenant can crowd out another with
 * fewer entries.
 */
export class SharedCache<V extends object | boolean | number> {
  readonly #shares = new Map<TenantId, LRUCache<string | number, V>>();
  #size = 0;

  /** @param sizeOf an entry's size as counted against `max`, at least 1 */
  constructor(
    private readonly max: number,
    private readonly sizeOf: (value: V) => number = () => 1,
  ) {}

  get(tenant: TenantId, key: string | number): V | undefined {
    return this.#shares.get(tenant)?.get(key);
  }

  /** The tenant's own entries, to look up many; undefined: it has none. */
  of(tenant: TenantId): Pick<LRUCache<string | number, V>, 'get'> | undefined {
    return this.#shares.get(tenant);
  }

  /** A changed value must be a new object; otherwise its size is not updated. */
  set(tenant: TenantId, key: string | number, value: V): void {
    const share = this.#shareOf(tenant);
    this.#change(share, () => share.set(key, value));
    while (this.#size > this.max) {
      const giving = share.calculatedSize * this.#shares.size >= this.#size ? share : this.#largest(share);
      this.#change(giving, () => giving.pop());
    }
  }

  delete(tenant: TenantId, key: string | number): void {
    const share = this.#shares.get(tenant);
    if (share) this.#change(share, () => share.delete(key));
  }

  #shareOf(tenant: TenantId): LRUCache<string | number, V> {
    let share = this.#shares.get(tenant);
    // `max` would reserve memory for all entries in advance, for every tenant.
    if (!share) this.#shares.set(tenant, (share = new LRUCache({ maxSize: this.max, sizeCalculation: this.sizeOf })));
    return share;
  }

  #change(share: LRUCache<string | number, V>, change: () => void): void {
    this.#size -= share.calculatedSize;
    change();
    this.#size += share.calculatedSize;
  }

  #largest(first: LRUCache<string | number, V>): LRUCache<string | number, V> {
    let largest = first;
    for (const share of this.#shares.values()) if (share.calculatedSize > largest.calculatedSize) largest = share;
    return largest;
  }
}
