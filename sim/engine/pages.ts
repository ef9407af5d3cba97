import type { KvCache } from './kv-cache.js';
import type { Sequence, Work } from './sequence.js';

/** The sequences' view of the KV cache, in tokens instead of blocks. */
export class Pages {
  constructor(
    private readonly kv: KvCache,
    private readonly blockSize: number,
  ) {}

  /** Leading tokens found in the cache, or in the host's. At least one is left to compute: it yields the next token. */
  hitTokens({ work, length }: Sequence, cache = this.kv): number {
    return cache.match(work.blockHashes, this.fullBlocks(work, length - 1)) * this.blockSize;
  }

  /**
   * Grows the sequence to `until` tokens if they fit, and makes its full blocks findable. Returns false when they do
   * not fit.
   */
  grow({ hold, work }: Sequence, until: number): boolean {
    const blocks = Math.ceil(until / this.blockSize);
    return this.kv.grow(hold, work.blockHashes, this.fullBlocks(work, until), blocks);
  }

  /** Takes room for a load up to `until` tokens, after those that are in the cache. Returns false when it does not fit. */
  reserve({ hold, work }: Sequence, hitTokens: number, until: number): boolean {
    return this.kv.grow(hold, work.blockHashes, hitTokens / this.blockSize, until / this.blockSize);
  }

  loaded({ hold, work }: Sequence): void {
    this.kv.grow(hold, work.blockHashes, hold.blocks, hold.blocks);
  }

  /** Whether a sequence with room for this many tokens needs a block for the next. */
  needsBlock(tokens: number): boolean {
    return tokens % this.blockSize === 0;
  }

  /** Frees all blocks that a sequence got by `grow`. */
  release({ hold, work }: Sequence): void {
    this.kv.release(hold, work.blockHashes, hold.cached);
  }

  /**
   * Frees all blocks of a sequence that has room for `until` tokens, including those taken one by one for its answer.
   */
  releaseDecoded({ hold, work }: Sequence, until: number): void {
    hold.blocks = Math.ceil(until / this.blockSize);
    this.kv.release(hold, work.blockHashes, this.fullBlocks(work, until));
  }

  /** Number of full blocks, which have a hash, among the first `tokens` tokens. */
  fullBlocks({ blockHashes }: Work, tokens: number): number {
    return Math.min(Math.floor(tokens / this.blockSize), blockHashes.length);
  }
}
