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
 * Runs that an open session has used are handed out after all others. A session that has used a run has used all runs
 * before it, so the order within a prefix stays. Of runs that open sessions have used, those needed the most steps
 * later go first.
 *
 * An operation costs O(runs + hashes compared), consecutive ones at once.
 */
export class KvCache {
  readonly #root = new Run(undefined, NaN, 0);
  /** Runs with content, by the hash of their first block, which also covers all blocks before it. */
  readonly #runs = new Map<number, Run>();
  /** Free runs of no open session, and those of open ones. */
  readonly #loose = new FreeRuns();
  readonly #kept = new FreeRuns();
  /** The runs that each open session has used, if any are left. */
  readonly #sessions = new Map<string, Set<Run>>();
  /** Steps until a session is needed; absent: 0. */
  readonly #steps = new Map<string, number>();
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
    this.#loose.appendEmpty(size);
    this.free = size;
  }

  /** Number of leading blocks of a prefix with findable content, held or free, at most `most`. */
  match(hashes: BlockHashes, most = hashes.length): number {
    this.#locate(this.#root, 0, hashes, most);
    return this.#found;
  }

  /** Hands out the blocks free for longest, those of open sessions last. The caller has checked that there are enough. */
  take(count: number): void {
    if (count > this.free) throw new RangeError(`${count} KV blocks wanted, ${this.free} are free`);
    this.free -= count;
    for (let left = count; left > 0;) {
      const run = this.#loose.oldest ?? this.#furthest();
      const taken = Math.min(left, run.size);
      left -= taken;
      if (this.evicts !== undefined && run.parent !== undefined && !run.isEvicted) {
        run.isEvicted = true;
        this.evicts(pathTo(run));
      }
      if (taken === run.size) {
        this.#listOf(run).remove(run);
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
   * @param session opens, or stays open, until `close`; absent: none
   */
  release(hold: KvHold, hashes: BlockHashes, full: number, session?: string): void {
    this.#locate(hold.tail ?? this.#root, hold.cached, hashes, full);
    const own = hold.blocks - hold.cached;
    this.#share(hold);
    const kept = this.#publish(hold, hashes, full);
    this.#freeEmpty(own - kept);
    for (let run = hold.tail; run !== undefined && run !== this.#root; run = run.parent) {
      if (session !== undefined) this.#use(session, run);
      run.holders -= 1;
      if (run.holders > 0) continue;
      run.isEvicted = false;
      this.#listOf(run).append(run);
      this.free += run.size;
      this.freed += run.size;
    }
    hold.tail = undefined;
    hold.cached = 0;
    hold.blocks = 0;
  }

  foresee(session: string, steps: number): void {
    if (steps > 0) this.#steps.set(session, steps);
    else this.#steps.delete(session);
  }

  /** Nothing more of the session is needed: what no other one has used stays no longer than anything else. */
  close(session: string): void {
    this.#steps.delete(session);
    const used = this.#sessions.get(session);
    if (used === undefined) return;
    this.#sessions.delete(session);
    for (const run of used) run.sessions?.delete(session);
    const freed: Run[] = [];
    for (let run = this.#kept.oldest; run !== undefined; run = run.newer) if (!isUsed(run)) freed.push(run);
    for (const run of freed) {
      this.#kept.remove(run);
      this.#loose.append(run);
    }
  }

  reset(): void {
    for (const session of this.#sessions.keys()) this.close(session);
    for (let run = this.#loose.oldest; run !== undefined; run = run.newer) this.#forget(run);
  }

  #use(session: string, run: Run): void {
    (run.sessions ??= new Set()).add(session);
    const used = this.#sessions.get(session) ?? new Set();
    this.#sessions.set(session, used.add(run));
  }

  /** The free run of open sessions that is needed the most steps later; of several, the one given back first. */
  #furthest(): Run {
    let furthest = this.#kept.oldest as Run;
    if (this.#steps.size === 0) return furthest;
    let most = this.#stepsTo(furthest);
    for (let run = furthest.newer; run !== undefined; run = run.newer) {
      const steps = this.#stepsTo(run);
      if (steps > most) [furthest, most] = [run, steps];
    }
    return furthest;
  }

  #stepsTo({ sessions = new Set() }: Run): number {
    let least = Infinity;
    for (const session of sessions) least = Math.min(least, this.#steps.get(session) ?? 0);
    return least;
  }

  #listOf(run: Run): FreeRuns {
    return isUsed(run) ? this.#kept : this.#loose;
  }

  #forget(run: Run): void {
    for (const session of run.sessions ?? []) {
      const used = this.#sessions.get(session);
      used?.delete(run);
      if (used?.size === 0) this.#sessions.delete(session);
    }
    run.sessions = undefined;
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
      for (const session of last.sessions ?? []) this.#use(session, last);
      this.#runs.set(last.first, last).set(lower.first, lower);
      // Its position in the list does not matter: the loop below removes it.
      if (last.holders === 0) this.#listOf(last).append(last);
    }
    const before = hold.tail ?? this.#root;
    for (let run = last; run !== before; run = run.parent as Run) {
      if (run.holders === 0) {
        this.#listOf(run).remove(run);
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
      const goesOn = run.holders === 1 && run.children === 0 && !isUsed(run) && run.append(hash, size);
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
    this.#loose.appendEmpty(count);
    this.free += count;
    this.freed += count;
  }
}

const isUsed = ({ sessions }: Run): boolean => sessions !== undefined && sessions.size > 0;
