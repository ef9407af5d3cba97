import type { Batch, BlockHash } from './batch.js';

/** An engine's cache according to its events. */
export interface Resident {
  readonly blocks: number;
  readonly tokens: number;
  /** Number of the last batch, of the rank that sent last. */
  readonly lastSeq: number;
  /** Times that batches were missing. */
  readonly gaps: number;
  /** Whether all events since each rank's cache was empty have come. Otherwise the figures miss some blocks. */
  readonly isComplete: boolean;
}

/** One data-parallel rank, with its own cache and sequence. */
interface Rank {
  /** Tokens of each block. The oldest come first. */
  readonly blocks: Map<BlockHash, number>;
  tokens: number;
  nextSeq: number;
  isComplete: boolean;
}

/** Follows the cache of one engine. */
export class ResidentBlocks {
  readonly #ranks = new Map<number, Rank>();
  #lastSeq = 0;
  #gaps = 0;

  /** @param blocksMax most blocks of a rank to remember; older ones are forgotten */
  take({ seq, rank: index, events }: Batch, blocksMax: number): void {
    const rank = this.#ranks.get(index) ?? { blocks: new Map(), tokens: 0, nextSeq: 0, isComplete: true };
    this.#ranks.set(index, rank);
    this.#follow(rank, seq);
    for (const event of events) {
      if (event.type === 'cleared') empty(rank);
      else if (event.type === 'removed') for (const hash of event.blocks) remove(rank, hash);
      // A block is reported again when a call reuses it.
      else for (const hash of event.blocks) store(rank, hash, event.blockTokens);
    }
    while (rank.blocks.size > blocksMax) {
      remove(rank, rank.blocks.keys().next().value as BlockHash);
      rank.isComplete = false;
    }
  }

  read(): Resident {
    const ranks = [...this.#ranks.values()];
    const sum = (of: (rank: Rank) => number) => ranks.reduce((total, rank) => total + of(rank), 0);
    return {
      blocks: sum((rank) => rank.blocks.size),
      tokens: sum((rank) => rank.tokens),
      lastSeq: this.#lastSeq,
      gaps: this.#gaps,
      isComplete: ranks.every((rank) => rank.isComplete),
    };
  }

  #follow(rank: Rank, seq: number): void {
    // Numbers begin again with the engine.
    if (seq < rank.nextSeq) {
      empty(rank);
      rank.nextSeq = 0;
    }
    if (seq > rank.nextSeq) {
      rank.isComplete = false;
      if (rank.nextSeq > 0) this.#gaps += 1;
    }
    rank.nextSeq = seq + 1;
    this.#lastSeq = seq;
  }
}

function store(rank: Rank, hash: BlockHash, tokens: number): void {
  remove(rank, hash);
  rank.blocks.set(hash, tokens);
  rank.tokens += tokens;
}

function remove(rank: Rank, hash: BlockHash): void {
  rank.tokens -= rank.blocks.get(hash) ?? 0;
  rank.blocks.delete(hash);
}

function empty(rank: Rank): void {
  rank.blocks.clear();
  rank.tokens = 0;
  rank.isComplete = true;
}
