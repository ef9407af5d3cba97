import { LRUCache } from 'lru-cache';
import type { ProgramId } from '../../src/index.js';

/**
 * Finds the root program of a sub-agent's own session, for harnesses that name only the parent. Chains of parents are
 * followed to the root, and shortened on the way. A parent without a link of its own is a root. A link that would close
 * a circle is not added. O(1) amortised.
 */
export class Lineage {
  readonly #parents: LRUCache<ProgramId, ProgramId>;

  constructor(max: number) {
    this.#parents = new LRUCache({ max });
  }

  /** Records `child` as a sub-agent of `parent`. @returns the root of both. */
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
