import type { BlockHashes } from '../engine/blocks.js';

/**
 * Numbers of blocks as spans in which they count up by one, found from the last to the first.
 *
 *     block      0 .......... starts[1] ......... starts[0] ........ length
 *     number     bases[2] + block | bases[1] + block | bases[0] + block
 */
export class Spans implements BlockHashes {
  readonly #starts: number[] = [];
  readonly #bases: number[] = [];
  #spans = 0;
  #length = 0;
  #missing = 0;

  get length(): number {
    return this.#length;
  }

  /** Blocks, from the first on, that no span covers yet. */
  get missing(): number {
    return this.#missing;
  }

  /** Of so many blocks, none covered yet. */
  reset(length: number): this {
    this.#spans = 0;
    this.#length = length;
    this.#missing = length;
    return this;
  }

  /** Covers the missing blocks from the `first`th on: each has the number of its place and `base`. */
  prepend(first: number, base: number): void {
    if (first >= this.#missing) return;
    this.#starts[this.#spans] = first;
    this.#bases[this.#spans] = base;
    this.#spans += 1;
    this.#missing = first;
  }

  at(block: number): number {
    return (this.#bases[this.#spanOf(block)] ?? NaN) + block;
  }

  consecutive(block: number): number {
    const span = this.#spanOf(block);
    return (span === 0 ? this.#length : (this.#starts[span - 1] ?? NaN)) - block;
  }

  /** The span that the block is in: the first, as they stand here, that begins with it or before. */
  #spanOf(block: number): number {
    let low = 0;
    let high = this.#spans - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#starts[middle] ?? NaN) <= block) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
