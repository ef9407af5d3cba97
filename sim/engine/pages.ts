import type { KvCache } from './kv-cache.js';
import type { Sequence, Work } from './sequence.js';

/** What sequences have of the KV cache, in tokens instead of blocks. */
export class Pages {
  constructor(
    private readonly kv: KvCache,
    private readonly blockSize: number,
  ) {}

  /** Leading tokens found in the cache, leaving at least one to compute: the one that yields the next. */
  hitTokens({ work, length }: Sequence): number {
    return this.kv.match(work.blockHashes, this.#fullBlocks(work, length - 1)) * this.blockSize;
  }

  /** Whether there is room for its first `until` tokens; if so it has it, and full blocks can be found by others. */
  grow({ hold, work }: Sequence, until: number): boolean {
    const blocks = Math.ceil(until / this.blockSize);
    return this.kv.grow(hold, work.blockHashes, this.#fullBlocks(work, until), blocks);
  }

  /** Whether a sequence that has a place for so many tokens takes a block for the next. */
  needsBlock(tokens: number): boolean {
    return tokens % this.blockSize === 0;
  }

  /** Gives back all that a sequence got by `grow`. */
  release({ hold, work }: Sequence): void {
    this.kv.release(hold, work.blockHashes, hold.cached);
  }

  /** Gives back all of a sequence that has blocks for `until` tokens, those taken for its answer one by one included. */
  releaseDecoded({ hold, work }: Sequence, until: number): void {
    hold.blocks = Math.ceil(until / this.blockSize);
    this.kv.release(hold, work.blockHashes, this.#fullBlocks(work, until));
  }

  /** Blocks with a hash among the first so many tokens. */
  #fullBlocks({ blockHashes }: Work, tokens: number): number {
    return Math.min(Math.floor(tokens / this.blockSize), blockHashes.length);
  }
}
