import type { BlockHashes } from '../engine/blocks.js';

/**
 * Numbers of blocks, as spans that count up by one, filled from the last span to the first.
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

  /** Number of leading blocks that no span covers yet. */
  get missing(): number {
    return this.#missing;
  }

  /** Empties it, for this many blocks. */
  reset(length: number): this {
    this.#spans = 0;
    this.#length = length;
    this.#missing = length;
    return this;
  }

  /** Covers the missing blocks from block `first` on; each gets the number `base` plus its index. */
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

  /** Index of the span that holds the block: the first in this order that starts at or before it. */
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
