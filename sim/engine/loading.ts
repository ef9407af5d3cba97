import type { Heap } from '../heap.js';
import type { HostTier } from './host-tier.js';
import type { Pages } from './pages.js';
import { goesBefore, type Sequence, type Work } from './sequence.js';

interface Load<S> {
  readonly sequence: S;
  readonly readyAt: number;
  readonly first: number;
  /** Whether the transfer is its own, and not that of another request. */
  readonly isOwn: boolean;
}

/**
 * Requests that wait for the host, apart from the queue, so that they hold up nobody. They have taken the blocks that
 * their loads fill. When these have ended they stand in the queue again, in their places.
 *
 *   waiting ──host has more──> loading ──ended──> waiting, holds its blocks ──> running
 *                                                    `── failed, given up: holds none
 */
export class Loading<W extends Work> {
  /** In order of their ends. */
  readonly #loads: Load<Sequence<W>>[] = [];
  /** Waiting sequences that hold what was loaded. */
  readonly holding = new Set<Sequence<W>>();

  constructor(
    private readonly host: HostTier,
    private readonly pages: Pages,
    private readonly waiting: Heap<Sequence<W>, Sequence>,
    private readonly blockSize: number,
  ) {}

  get size(): number {
    return this.#loads.filter(({ sequence }) => sequence.state === 'waiting').length;
  }

  get readyAt(): number {
    return this.#loads[0]?.readyAt ?? Infinity;
  }

  /**
   * Takes a waiting sequence if the host has more of its prompt than the KV cache, of which it found `hitTokens`.
   * `no room`: what it would load does not fit.
   */
  take(sequence: Sequence<W>, hitTokens: number, now: number): 'taken' | 'no room' | 'no need' {
    if (sequence.isLoaded) return 'no need';
    const hostTokens = this.pages.hitTokens(sequence, this.host.blocks);
    if (hostTokens <= hitTokens) return 'no need';
    const { blockHashes } = sequence.work;
    const from = hitTokens / this.blockSize;
    const first = blockHashes.at(from);
    const other = this.#loads.findLastIndex((load) => load.first === first);
    const readyAt = this.#loads[other]?.readyAt;
    // The same content is on its way for another request.
    if (readyAt !== undefined) this.#loads.splice(other + 1, 0, { sequence, readyAt, first, isOwn: false });
    else if (this.pages.reserve(sequence, hitTokens, hostTokens)) {
      sequence.hostTokens = hostTokens - hitTokens;
      const endsAt = this.host.load(blockHashes, from, hostTokens / this.blockSize, now);
      this.#loads.push({ sequence, readyAt: endsAt, first, isOwn: true });
    } else return 'no room';
    this.waiting.remove(sequence);
    return 'taken';
  }

  /** Ends the loads that are due: what they brought is findable. */
  end(now: number): void {
    while (this.readyAt <= now) {
      const { sequence, isOwn } = this.#loads.shift() as Load<Sequence<W>>;
      if (sequence.state === 'aborted') {
        this.pages.release(sequence);
        continue;
      }
      this.waiting.add(sequence);
      if (!isOwn) continue;
      sequence.isLoaded = true;
      this.holding.add(sequence);
      if (sequence.work.failsLoad !== true) this.pages.loaded(sequence);
      else {
        this.host.totals.failedLoads += 1;
        this.leave(sequence);
      }
    }
  }

  /** It runs now. @param hitTokens all that was found or loaded */
  admitted(sequence: Sequence<W>, hitTokens: number): void {
    this.holding.delete(sequence);
    if (sequence.preemptions > 0) return;
    const { totals } = this.host;
    totals.queriedTokens += sequence.work.promptTokens - hitTokens + sequence.hostTokens;
    totals.hitTokens += sequence.hostTokens;
  }

  leave(sequence: Sequence<W>): void {
    this.holding.delete(sequence);
    this.pages.release(sequence);
    sequence.hostTokens = 0;
  }

  /** Of the waiting sequences that hold what they loaded, the last to be served gives it back. False: there is none. */
  giveUpLast(): boolean {
    let last: Sequence<W> | undefined;
    for (const candidate of this.holding) if (last === undefined || goesBefore(last, candidate)) last = candidate;
    if (last !== undefined) this.leave(last);
    return last !== undefined;
  }

  /** Copies the computed full blocks of a running sequence's prompt to the host, if it gets them then. */
  store({ work, prefilled }: Sequence<W>, now: number): void {
    if (this.host.settings.writes !== 'computed') return;
    const blocks = this.pages.fullBlocks(work, Math.min(prefilled, work.promptTokens));
    if (blocks > 0) this.host.store(work.blockHashes, blocks, now);
  }
}
