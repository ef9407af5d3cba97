import type { BlockHashes } from './blocks.js';
import { KvCache, KvHold } from './kv-cache.js';
import type { Preset } from './presets.js';
import { noHostTotals } from './totals.js';

/** When content is copied to the host: as soon as it is computed, as by vLLM, or when the GPU gives it away. */
export const HOST_WRITES = ['computed', 'evicted'] as const;
export type HostWrites = (typeof HOST_WRITES)[number];

/** Host memory that keeps what leaves the KV cache, and its link to the GPU. */
export interface HostSettings {
  readonly tokens: number;
  /** Rate of its link, each way. */
  readonly bytesPerSecond: number;
  readonly writes: HostWrites;
}

export interface HostOptions {
  readonly hostTokens?: number | undefined;
  readonly hostWrites: HostWrites;
}

/**
 * The tier that options describe; undefined: none.
 * @throws TypeError when nothing gives the speed of its link
 */
export function hostOf(preset: Preset, { hostTokens, hostWrites }: HostOptions): HostSettings | undefined {
  if (hostTokens === undefined || hostTokens === 0) return undefined;
  const { hostBytesPerSecond: bytesPerSecond } = preset;
  if (bytesPerSecond === undefined) throw new TypeError('the preset has no link to host memory');
  return { tokens: hostTokens, bytesPerSecond, writes: hostWrites };
}

interface Store {
  readonly readyAt: number;
  /** The first block that moves, and its hash, which tells all prefixes that contain it. */
  readonly from: number;
  readonly first: number;
}

/**
 * The second tier of the prefix cache. Transfers take no step time; those of one direction share its link, one after
 * the other. Like the KV cache, it loses the content used longest ago, the end of a prefix first. A copy stays when it is
 * loaded.
 */
export class HostTier {
  readonly totals = noHostTotals();
  readonly blocks: KvCache;
  readonly #blockMs: number;
  #outUntil = 0;
  #inUntil = 0;
  /** In order of their ends. */
  #stores: Store[] = [];

  constructor(
    readonly settings: HostSettings,
    kvBytesPerToken: number,
    private readonly blockSize: number,
  ) {
    this.blocks = new KvCache(Math.max(1, Math.floor(settings.tokens / blockSize)));
    this.#blockMs = (blockSize * kvBytesPerToken * 1000) / settings.bytesPerSecond;
  }

  /**
   * Copies the leading blocks that are not here, as many as fit, and marks all of them as used.
   * @param now absent: no load has to wait for the copy
   */
  store(hashes: BlockHashes, blocks: number, now?: number): void {
    const full = Math.min(blocks, this.blocks.size);
    const found = this.blocks.match(hashes, full);
    this.#touch(hashes, full);
    if (found === full) return;
    const ms = (full - found) * this.#blockMs;
    this.totals.storedTokens += (full - found) * this.blockSize;
    this.totals.storeMs += ms;
    if (now === undefined) return;
    this.#outUntil = Math.max(now, this.#outUntil) + ms;
    this.#stores = this.#stores.filter(({ readyAt }) => readyAt > now);
    this.#stores.push({ readyAt: this.#outUntil, from: found, first: hashes.at(found) });
  }

  /** Loads the blocks `from` to `to` of a prefix that is here; returns when they are on the GPU. */
  load(hashes: BlockHashes, from: number, to: number, now: number): number {
    this.#touch(hashes, to);
    const ms = (to - from) * this.#blockMs;
    const pending = this.#stores.findLast((store) => store.from < to && hashes.at(store.from) === store.first);
    this.#inUntil = Math.max(now, this.#inUntil, pending?.readyAt ?? 0) + ms;
    this.totals.loadedTokens += (to - from) * this.blockSize;
    this.totals.loadMs += ms;
    return this.#inUntil;
  }

  /** The prefix is here, or about to be, as the content used last. */
  #touch(hashes: BlockHashes, full: number): void {
    const hold = new KvHold();
    this.blocks.grow(hold, hashes, full, full);
    this.blocks.release(hold, hashes, full);
  }
}
