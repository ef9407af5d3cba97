import { LRUCache } from 'lru-cache';
import type { ProgramId, TenantId } from '../../src/index.js';

/**
 * A bounded cache shared by tenants. No tenant reads another's entries, so a crafted key affects only its author's. A
 * full cache drops the oldest entry of a tenant with at least an equal share: none can crowd out a smaller one.
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

  /** A changed value must be a new object; otherwise its size is not updated. */
  set(tenant: TenantId, key: string | number, value: V): void {
    // `max` would reserve memory for all entries in advance, for every tenant.
    const share = this.#shares.get(tenant) ?? new LRUCache({ maxSize: this.max, sizeCalculation: this.sizeOf });
    this.#shares.set(tenant, share);
    this.#change(share, () => share.set(key, value));
    while (this.#size > this.max) {
      let giving = share;
      if (share.calculatedSize * this.#shares.size < this.#size)
        for (const other of this.#shares.values()) if (other.calculatedSize > giving.calculatedSize) giving = other;
      this.#change(giving, () => giving.pop());
    }
  }

  delete(tenant: TenantId, key: string | number): void {
    const share = this.#shares.get(tenant);
    if (share) this.#change(share, () => share.delete(key));
  }

  #change(share: LRUCache<string | number, V>, change: () => void): void {
    this.#size -= share.calculatedSize;
    change();
    this.#size += share.calculatedSize;
  }
}

/** Forgets an ended program under all keys at once: a seat counts only if younger than its program's end. O(1) each. */
export class Ends {
  readonly #ends: LRUCache<ProgramId, number>;
  #clock = 0;

  constructor(max: number) {
    this.#ends = new LRUCache({ max });
  }

  ended(program: ProgramId): void {
    this.#ends.set(program, this.tick());
  }

  /** A stamp later than all earlier ones. */
  tick(): number {
    return ++this.#clock;
  }

  isAlive({ program, stamp }: Seat): boolean {
    return stamp > (this.#ends.get(program) ?? 0);
  }
}

export interface Seat {
  readonly program: ProgramId;
  readonly stamp: number;
}

/** A position in a conversation. */
export interface Place {
  /** Hash of all messages before it, one link for each answer. */
  readonly chain: string;
  /** Hash of the ids of all tool calls before it; '' without any. */
  readonly ids: string;
}

/** Distinguishes a text from others with the same mark: hash and length of its canonical content. */
export interface Told {
  readonly hash: number;
  readonly chars: number;
}

/** A text of a program, and where the line stands in it that leads to it. */
export interface Excerpt extends Seat, Told {
  readonly at: number;
}

/**
 * Finds the root program of a sub-agent's own session, for harnesses that name only the parent. Chains of parents are
 * followed to the root, and shortened on the way. A link that would close a circle is not added. O(1) amortised.
 */
export class Lineage {
  readonly #parents: LRUCache<ProgramId, ProgramId>;

  constructor(max: number) {
    this.#parents = new LRUCache({ max });
  }

  link(child: ProgramId, parent: ProgramId): ProgramId {
    // Without its old link the child ends every chain through it, which reveals a circle.
    this.#parents.delete(child);
    const root = this.rootOf(parent);
    if (root !== child) this.#parents.set(child, root);
    return root;
  }

  rootOf(program: ProgramId): ProgramId {
    let root = program;
    for (let next = this.#parents.get(root); next !== undefined; next = this.#parents.get(root)) root = next;
    // All of them, so that the ones between may be forgotten.
    for (let at = program; at !== root;) {
      const next = this.#parents.get(at) ?? root;
      if (next !== root) this.#parents.set(at, root);
      at = next;
    }
    return root;
  }

  forget(program: ProgramId): void {
    this.#parents.delete(program);
  }
}
