/**
 * Paged KV cache with prefix reuse. A block is either held by one or more sequences, or free; a free block keeps its
 * contents, and its hash, until it is handed out again.
 *
 *   free list   [least recently freed] <-> ... <-> [most recently freed]
 *                     ^ handed out next, its hash forgotten
 *
 * A hit takes its block out of the middle of the list, so the list is doubly linked, in typed arrays; its ends meet in
 * one sentinel. Every operation is O(1) per block.
 */
export class KvCache {
  readonly #blockByHash = new Map<number, number>();
  readonly #hash: Float64Array;
  readonly #holders: Int32Array;
  readonly #next: Int32Array;
  readonly #previous: Int32Array;
  readonly #sentinel: number;
  #free: number;
  #freed = 0;

  constructor(readonly size: number) {
    this.#hash = new Float64Array(size).fill(NaN);
    this.#holders = new Int32Array(size);
    this.#next = new Int32Array(size + 1);
    this.#previous = new Int32Array(size + 1);
    this.#sentinel = size;
    this.#next[size] = size;
    this.#previous[size] = size;
    for (let block = 0; block < size; block += 1) this.#append(block);
    this.#free = size;
  }

  /** Blocks that no sequence holds. */
  get free(): number {
    return this.#free;
  }

  /** Blocks ever given back: grows whenever there is more room than before. */
  get freed(): number {
    return this.#freed;
  }

  /** The block that holds this content, free or held. */
  find(hash: number): number | undefined {
    return this.#blockByHash.get(hash);
  }

  isFree(block: number): boolean {
    return this.#holders[block] === 0;
  }

  /** One more sequence holds a block that was found. */
  share(block: number): void {
    if (this.isFree(block)) {
      this.#unlink(block);
      this.#free -= 1;
    }
    this.#holders[block] = (this.#holders[block] ?? 0) + 1;
  }

  /** Hands out the block that has been free for longest. The caller has checked that one is free. */
  take(): number {
    const block = this.#next[this.#sentinel] ?? this.#sentinel;
    if (block === this.#sentinel) throw new RangeError('no KV block is free');
    const hash = this.#hash[block] ?? NaN;
    if (this.#blockByHash.get(hash) === block) this.#blockByHash.delete(hash);
    this.#hash[block] = NaN;
    this.share(block);
    return block;
  }

  /** A held block is full: it can be found from now on. Content already cached elsewhere stays where it is. */
  register(block: number, hash: number): void {
    if (this.#blockByHash.has(hash)) return;
    this.#blockByHash.set(hash, block);
    this.#hash[block] = hash;
  }

  /** Gives back a sequence's blocks, the last first, so that a prefix outlives what followed it. */
  release(blocks: number[]): void {
    for (let block = blocks.pop(); block !== undefined; block = blocks.pop()) {
      const holders = (this.#holders[block] ?? 0) - 1;
      this.#holders[block] = holders;
      if (holders > 0) continue;
      this.#append(block);
      this.#free += 1;
      this.#freed += 1;
    }
  }

  /** Forgets all content that no sequence holds. */
  reset(): void {
    for (let block = 0; block < this.size; block += 1) {
      const hash = this.#hash[block] ?? NaN;
      if (Number.isNaN(hash) || !this.isFree(block)) continue;
      this.#blockByHash.delete(hash);
      this.#hash[block] = NaN;
    }
  }

  #append(block: number): void {
    const last = this.#previous[this.#sentinel] ?? this.#sentinel;
    this.#next[last] = block;
    this.#previous[block] = last;
    this.#next[block] = this.#sentinel;
    this.#previous[this.#sentinel] = block;
  }

  #unlink(block: number): void {
    const next = this.#next[block] ?? this.#sentinel;
    const previous = this.#previous[block] ?? this.#sentinel;
    this.#next[previous] = next;
    this.#previous[next] = previous;
  }
}
