import type { BlockHashes } from './blocks.js';

/**
 * Consecutive blocks of one prefix, held by the same sequences and given back together; or, with no parent, blocks whose
 * content nobody can find. The root is a run of no blocks.
 */
export class Run {
  /** Sequences that hold all of it. */
  holders = 0;
  children = 0;
  /** Neighbours in the list of free runs: the one given back before it, and after it. */
  older: Run | undefined;
  newer: Run | undefined;
  /** Whether it has begun to lose its blocks since it was given back. */
  isEvicted = false;
  /** Hashes of its blocks, and perhaps of some handed out since; none for consecutive numbers, as of made-up texts. */
  #hashes: number[] | undefined;

  constructor(
    public parent: Run | undefined,
    /** Hash of its first block, by which it is found. */
    public first: number,
    public size: number,
  ) {}

  /** Number of its blocks, at most `most`, that match the prefix from block `at` on. The first one always does. */
  common(prefix: BlockHashes, at: number, most: number): number {
    let count = 1;
    if (this.#hashes === undefined) count = Math.min(most, prefix.consecutive(at));
    while (count < most && this.hashOf(count) === prefix.at(at + count)) count += 1;
    return count;
  }

  /**
   * Adds blocks whose hashes count up from this one. Returns false when consecutive numbers and other hashes would mix
   * in a run.
   */
  append(hash: number, size: number): boolean {
    const goesOn = hash === this.first + this.size && this.#hashes === undefined;
    if (!goesOn && (size > 1 || (this.size > 1 && this.#hashes === undefined))) return false;
    if (!goesOn) (this.#hashes ??= [this.first])[this.size] = hash;
    this.size += size;
    return true;
  }

  /** Hash of its block of this index. */
  hashOf(block: number): number {
    return this.#hashes === undefined ? this.first + block : (this.#hashes[block] ?? NaN);
  }

  /** Number of its blocks from this one on whose hashes count up by one. */
  consecutive(block: number): number {
    return this.#hashes === undefined ? this.size - block : 1;
  }

  /** Cuts off its first blocks as a new run, now its parent. Holders of its end keep holding all of it. */
  splitOff(count: number): Run {
    const upper = new Run(this.parent, this.first, count);
    upper.holders = this.holders;
    upper.children = 1;
    upper.isEvicted = this.isEvicted;
    this.parent = upper;
    this.first = this.hashOf(count);
    this.size -= count;
    upper.#hashes = this.#hashes?.splice(0, count);
    return upper;
  }
}

/** The hashes of all blocks from the first up to the end of this run. */
export function pathTo(last: Run): BlockHashes {
  const path: { readonly run: Run; readonly start: number }[] = [];
  let length = 0;
  for (let run = last; run.parent !== undefined; run = run.parent) length += run.size;
  let start = length;
  for (let run = last; run.parent !== undefined; run = run.parent) path.push({ run, start: (start -= run.size) });
  const partOf = (block: number) => path.find((part) => part.start <= block) as (typeof path)[number];
  return {
    length,
    at: (block) => {
      const { run, start: first } = partOf(block);
      return run.hashOf(block - first);
    },
    consecutive: (block) => {
      const { run, start: first } = partOf(block);
      return run.consecutive(block - first);
    },
  };
}

/** Free runs in the order in which they were given back. Every operation is O(1). */
export class FreeRuns {
  oldest: Run | undefined;
  #newest: Run | undefined;

  append(run: Run): void {
    run.older = this.#newest;
    if (this.#newest === undefined) this.oldest = run;
    else this.#newest.newer = run;
    this.#newest = run;
  }

  /** Adds blocks without content; those given back one after the other form one run. */
  appendEmpty(size: number): void {
    if (size === 0) return;
    if (this.#newest !== undefined && this.#newest.parent === undefined) this.#newest.size += size;
    else this.append(new Run(undefined, NaN, size));
  }

  remove(run: Run): void {
    const { older, newer } = run;
    if (older === undefined) this.oldest = newer;
    else older.newer = newer;
    if (newer === undefined) this.#newest = older;
    else newer.older = older;
    run.older = undefined;
    run.newer = undefined;
  }
}
