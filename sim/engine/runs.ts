/**
 * Consecutive blocks of one prefix, held by the same sequences and given back together; or, with no content, blocks
 * that nobody can find. The root is a run of no blocks.
 */
export class Run {
  /** Sequences that hold all of it. */
  holders = 0;
  children: Map<number, Run> | undefined;
  /** In the list of free runs: the one given back before it, and after it. */
  older: Run | undefined;
  newer: Run | undefined;

  constructor(
    public parent: Run | undefined,
    /** Hashes of its blocks in order; empty when it has no content. */
    public readonly hashes: number[],
    public size = hashes.length,
  ) {}

  get isEmpty(): boolean {
    return this.hashes.length === 0;
  }

  child(hash: number): Run | undefined {
    return this.children?.get(hash);
  }

  adopt(child: Run): void {
    this.children ??= new Map();
    this.children.set(child.hashes[0] ?? NaN, child);
  }

  /** Nobody finds its content any more. */
  detach(): void {
    this.parent?.children?.delete(this.hashes[0] ?? NaN);
    this.parent = undefined;
  }

  /** Cuts off its first blocks as a run of their own, now its parent; whoever held it to its end still does. */
  splitOff(count: number): Run {
    const upper = new Run(this.parent, this.hashes.splice(0, count));
    upper.holders = this.holders;
    this.size -= count;
    this.parent?.adopt(upper);
    this.parent = upper;
    upper.adopt(this);
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
    if (this.#newest?.isEmpty === true) this.#newest.size += size;
    else if (size > 0) this.append(new Run(undefined, [], size));
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
