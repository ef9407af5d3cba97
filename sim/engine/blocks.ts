/**
 * Hashes of the full blocks of a prompt and its answer, in order; each covers all that precedes it, so that equal hashes
 * mean equal prefixes.
 */
export interface BlockHashes {
  readonly length: number;
  /** Hash of a block, for `block` below `length`. */
  at(block: number): number;
  /**
   * Number of blocks from this one on whose hashes count up by one, at least 1; for made-up texts, all blocks of a
   * text.
   */
  consecutive(block: number): number;
}

/** A list of single hashes, as of real texts. */
export class HashList implements BlockHashes {
  readonly length: number;

  constructor(private readonly hashes: ArrayLike<number>) {
    this.length = hashes.length;
  }

  at(block: number): number {
    return this.hashes[block] ?? NaN;
  }

  consecutive(): number {
    return 1;
  }
}
