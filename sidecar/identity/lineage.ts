import { LRUCache } from 'lru-cache';
import type { ProgramId } from '../../src/index.js';

/**
 * Which program a sub-agent's own session belongs to, for harnesses that tell of the parent only: chains of parents are
 * followed to the root, and shortened as they are walked. A parent never seen before is a root until it names its own.
 * A link that would close a circle is not made. O(1) amortised.
 */
export class Lineage {
  readonly #parents: LRUCache<ProgramId, ProgramId>;

  constructor(max: number) {
    this.#parents = new LRUCache({ max });
  }

  /** Notes that `child` is a sub-agent of `parent`. @returns the root of both. */
  link(child: ProgramId, parent: ProgramId): ProgramId {
    // Without its old link the child ends every chain through it, which shows a circle.
    this.#parents.delete(child);
    const root = this.rootOf(parent);
    if (root !== child) this.#parents.set(child, root);
    return root;
  }

  rootOf(program: ProgramId): ProgramId {
    let root = program;
    for (let next = this.#parents.get(root); next !== undefined; next = this.#parents.get(root)) root = next;
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
