import type { BlockHashes } from './blocks.js';
import { FreeRuns, pathTo, Run } from './runs.js';

/** A sequence's part of the cache: its leading blocks with findable content, and further blocks that only it knows. */
export class KvHold {
  /** The last run of its findable content, which starts at the root. */
  tail: Run | undefined;
  /** Blocks with findable content, and all blocks. */
  cached = 0;
  blocks = 0;
}

/**
 * Paged KV cache with prefix reuse. A block is either held by one or more sequences, or free. A free block keeps its
 * content until it is handed out again; the longest free goes first. A sequence gives back its last block first, so
 * that a prefix outlives what followed it.
 *
 * Blocks are kept in runs, which form a tree. Each run is held and given back as a whole, and split where two prompts
 * diverge.
 *
 *   root -- [a b c d] -- [e f]        held by two sequences, then one
 *              `-------- [g h i]      free: handed out from its end, i first
 *
 *   free    [least recently freed run] <-> ... <-> [most recently freed run]
 *
 * A sequence that holds a run holds all runs before it. So a free run's descendants were given back, and are handed
 * out, before it. Content is never stored twice: a sequence that fills a block with findable content shares that block.
 *
 * An operation costs O(runs + hashes compared), consecutive ones at once.
 */
export class KvCache {
  readonly #root = new Run(undefined, NaN, 0);
  /** Runs with content, by the hash of their first block, which also covers all blocks before it. */
  readonly #runs = new Map<number, Run>();
  readonly #freeRuns = new FreeRuns();
  free: number;
  /** Total of blocks ever given back: it grows whenever room appears. */
  freed = 0;
  /**
   * Result of `#locate`: blocks, how many of them are free, and the last run with how many of its blocks are among
   * them.
   */
  #found = 0;
  #foundFree = 0;
  #foundRun = this.#root;
  #foundInRun = 0;

  /** @param evicts told of content before it is lost: once of each prefix since it was used last */
  constructor(
    readonly size: number,
    private readonly evicts?: (prefix: BlockHashes) => void,
  ) {
    this.#freeRuns.appendEmpty(size);
    this.free = size;
  }

  /** Number of leading blocks of a prefix with findable content, held or free, at most `most`. */
  match(hashes: BlockHashes, most = hashes.length): number {
    this.#locate(this.#root, 0, hashes, most);
    return this.#found;
  }

  /** Hands out the blocks free for longest. The caller has checked that there are enough. */
  take(count: number): void {
    if (count > this.free) throw new RangeError(`${count} KV blocks wanted, ${this.free} are free`);
    this.free -= count;
    for (let left = count; left > 0;) {
      const run = this.#freeRuns.oldest as Run;
      const taken = Math.min(left, run.size);
      left -= taken;
      if (this.evicts !== undefined && run.parent !== undefined && !run.isEvicted) {
        run.isEvicted = true;
        this.evicts(pathTo(run));
      }
      if (taken === run.size) {
        this.#freeRuns.remove(run);
        this.#forget(run);
      } else run.size -= taken;
    }
  }

  /**
   * Grows a hold to this many blocks; the leading `full` of them have this content. Blocks with findable content are
   * shared. Returns false, and changes nothing, when they do not fit.
   */
  grow(hold: KvHold, hashes: BlockHashes, full: number, blocks: number): boolean {
    this.#locate(hold.tail ?? this.#root, hold.cached, hashes, full);
    const missing = blocks - hold.blocks - this.#found;
    if (this.#foundFree + missing > this.free) return false;
    this.#share(hold);
    if (missing > 0) this.take(missing);
    else this.#freeEmpty(-missing);
    this.#publish(hold, hashes, full);
    hold.blocks = blocks;
    return true;
  }

  /**
   * Gives back a sequence's blocks; the leading `full` of them have this content and become findable. Blocks without
   * content are freed first, then the last before the first.
   */
  release(hold: KvHold, hashes: BlockHashes, full: number): void {
    this.#locate(hold.tail ?? this.#root, hold.cached, hashes, full);
    const own = hold.blocks - hold.cached;
    this.#share(hold);
    const kept = this.#publish(hold, hashes, full);
    this.#freeEmpty(own - kept);
    for (let run = hold.tail; run !== undefined && run !== this.#root; run = run.parent) {
      run.holders -= 1;
      if (run.holders > 0) continue;
      run.isEvicted = false;
      this.#freeRuns.append(run);
      this.free += run.size;
      this.freed += run.size;
    }
    hold.tail = undefined;
    hold.cached = 0;
    hold.blocks = 0;
  }

  reset(): void {
    for (let run = this.#freeRuns.oldest; run !== undefined; run = run.newer) this.#forget(run);
  }

  #forget(run: Run): void {
    if (run.parent === undefined) return;
    this.#runs.delete(run.first);
    run.parent.children -= 1;
    run.parent = undefined;
  }

  /** Follows a prefix from the end of `run`, which covers its first `start` blocks, up to block `end` at most. */
  #locate(run: Run, start: number, hashes: BlockHashes, end: number): void {
    let last = run;
    let lastCount = run.size;
    let at = start;
    let free = 0;
    while (at < end) {
      const next = this.#runs.get(hashes.at(at));
      if (next === undefined) break;
      last = next;
      lastCount = next.common(hashes, at, Math.min(next.size, end - at));
      if (next.holders === 0) free += lastCount;
      at += lastCount;
      if (lastCount < next.size) break;
    }
    this.#found = at - start;
    this.#foundFree = free;
    this.#foundRun = last;
    this.#foundInRun = lastCount;
  }

  /** The sequence now holds the located blocks too. */
  #share(hold: KvHold): void {
    if (this.#found === 0) return;
    let last = this.#foundRun;
    if (this.#foundInRun < last.size) {
      const lower = last;
      last = lower.splitOff(this.#foundInRun);
      this.#runs.set(last.first, last).set(lower.first, lower);
      // Its position in the list does not matter: the loop below removes it.
      if (last.holders === 0) this.#freeRuns.append(last);
    }
    const before = hold.tail ?? this.#root;
    for (let run = last; run !== before; run = run.parent as Run) {
      if (run.holders === 0) {
        this.#freeRuns.remove(run);
        this.free -= run.size;
      }
      run.holders += 1;
    }
    hold.tail = last;
    hold.cached += this.#found;
    hold.blocks += this.#found;
  }

  /** Makes a sequence's own blocks findable, from its last findable one up to block `full`. Returns their number. */
  #publish(hold: KvHold, hashes: BlockHashes, full: number): number {
    const count = full - hold.cached;
    if (count <= 0) return 0;
    let run = hold.tail ?? this.#root;
    for (let at = hold.cached; at < full;) {
      const hash = hashes.at(at);
      const size = Math.min(full - at, hashes.consecutive(at));
      // Content held by this sequence alone, up to its end, extends the same run.
      const goesOn = run.holders === 1 && run.children === 0 && run.append(hash, size);
      if (!goesOn) run = this.#branch(run, hash, size);
      at += size;
    }
    hold.tail = run;
    hold.cached = full;
    return count;
  }

  /** Blocks after `parent`, held by one sequence, whose hashes count up from this one. */
  #branch(parent: Run, hash: number, size: number): Run {
    const run = new Run(parent, hash, size);
    run.holders = 1;
    parent.children += 1;
    this.#runs.set(hash, run);
    return run;
  }

  #freeEmpty(count: number): void {
    this.#freeRuns.appendEmpty(count);
    this.free += count;
    this.freed += count;
  }
}
