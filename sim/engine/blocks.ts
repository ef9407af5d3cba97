/**
 * Hashes of the full blocks of a prompt and its answer, in order; each covers all that precedes it, so that equal hashes
 * mean equal prefixes.
 */
export interface BlockHashes {
  readonly length: number;
  /** The hash of a block before the `length`th. */
  at(block: number): number;
  /** How many blocks from this one on have hashes that count up by one: 1 or more, those of made-up texts all of a text. */
  consecutive(block: number): number;
}

/** Hashes one by one, as real texts have them. */
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
