/**
 * Consecutive blocks of one prefix, held by the same sequences and given back together; or, with no parent, blocks whose
 * content nobody can find. The root is a run of no blocks.
 */
export class Run {
  /** Sequences that hold all of it. */
  holders = 0;
  /** Runs whose parent it is. */
  children = 0;
  /** In the list of free runs: the one given back before it, and after it. */
  older: Run | undefined;
  newer: Run | undefined;
  /** Hashes of its blocks, and perhaps of some handed out since; none where they are consecutive numbers, as of made-up texts. */
  #hashes: number[] | undefined;

  constructor(
    public parent: Run | undefined,
    /** Hash of its first block, by which it is found. */
    public first: number,
    public size: number,
  ) {}

  hashOf(block: number): number {
    return this.#hashes === undefined ? this.first + block : (this.#hashes[block] ?? NaN);
  }

  /** Adds a block to its end. False: that would make a list of consecutive numbers, which are to be a run of their own. */
  append(hash: number): boolean {
    if (this.#hashes !== undefined) this.#hashes[this.size] = hash;
    else if (hash !== this.first + this.size) {
      if (this.size > 1) return false;
      this.#hashes = [this.first, hash];
    }
    this.size += 1;
    return true;
  }

  /** Cuts off its first blocks as a run of their own, now its parent; whoever held it to its end still does. */
  splitOff(count: number): Run {
    const upper = new Run(this.parent, this.first, count);
    upper.holders = this.holders;
    upper.children = 1;
    this.parent = upper;
    this.first = this.hashOf(count);
    this.size -= count;
    upper.#hashes = this.#hashes?.splice(0, count);
    return upper;
  }
}

/** Free runs in the order in which they were given back. Every operation is O(1). */
export class FreeRuns {
  #oldest: Run | undefined;
  #newest: Run | undefined;

  get oldest(): Run | undefined {
    return this.#oldest;
  }

  append(run: Run): void {
    run.older = this.#newest;
    if (this.#newest === undefined) this.#oldest = run;
    else this.#newest.newer = run;
    this.#newest = run;
  }

  /** Blocks without content; those given back one after the other are one run. */
  appendEmpty(size: number): void {
    if (size === 0) return;
    if (this.#newest !== undefined && this.#newest.parent === undefined) this.#newest.size += size;
    else this.append(new Run(undefined, NaN, size));
  }

  remove(run: Run): void {
    const { older, newer } = run;
    if (older === undefined) this.#oldest = newer;
    else older.newer = newer;
    if (newer === undefined) this.#newest = older;
    else newer.older = older;
    run.older = undefined;
    run.newer = undefined;
  }
}
