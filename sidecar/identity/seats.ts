import type { TenantId } from '../../src/index.js';
import type { Ends } from './ends.js';
import type { Excerpt } from './excerpts.js';
import { SharedCache } from './shared-cache.js';
import type { Place } from './trail.js';

/** Share of a full table's seats that stay, the latest ones. */
const KEPT_SHARE = 0.75;
/** Dropped seats that a full table keeps in mind. */
const CROWD_MAX = 16;

/** The place of an answer, and its identity. */
export interface Answered extends Excerpt, Place {
  /** Hash of the program, compared before the programs: a thousand comparisons of strings take 30 µs. */
  readonly number: number;
  /** The sub-agent that got the answer; '' for the root. */
  readonly thread: string;
  /** Hash of its conversation's first message. */
  readonly opening: number;
  /** Hash of its client's name: sub-agents call with the same program as their parent. */
  readonly sender: number;
  /** Hash of the message before the answer. */
  readonly last: number;
  /** Hash of the ids of all tool calls up to and including this answer, as sent by the client that took the seat. */
  readonly allIds: string;
  /** Stamp at which its program continued from here; absent if it has not. */
  taken: number | undefined;
  /** Whether the seat was taken by a call with ids other than the answer's own. */
  guessed: boolean;
}

interface Table {
  readonly seats: Answered[];
  /** Seats that were dropped for lack of room while their programs lived, the latest ones. */
  readonly crowd: readonly Answered[];
}

const NONE: readonly Answered[] = [];

/** Seats by key, a bounded number in all and under each key. */
export class Seats {
  readonly #tables: SharedCache<Table>;

  /**
   * @param max most seats in all
   * @param perKey most seats under one key
   */
  constructor(
    max: number,
    private readonly perKey: number,
    private readonly ends: Ends,
  ) {
    this.#tables = new SharedCache(max, ({ seats }) => seats.length);
  }

  at(tenant: TenantId, key: string | number): readonly Answered[] | undefined {
    return this.#tables.get(tenant, key)?.seats;
  }

  /** Whether living programs have lost their seats here, so that a call without a match may be a stranger's. */
  isCrowded(tenant: TenantId, key: string | number): boolean {
    return this.#tables.get(tenant, key)?.crowd.some((seat) => this.ends.isAlive(seat)) === true;
  }

  sit(tenant: TenantId, key: string | number, seat: Answered): void {
    const table = this.#tables.get(tenant, key);
    if (!table) {
      this.#tables.set(tenant, key, { seats: [seat], crowd: NONE });
      return;
    }
    const { seats, crowd } = table;
    const before = seats.findLastIndex(
      (other) => other.number === seat.number && other.program === seat.program && other.hash === seat.hash,
    );
    if (before >= 0) seats.splice(before, 1);
    if (seats.length < this.perKey) {
      seats.push(seat);
      this.#tables.set(tenant, key, { seats, crowd });
      return;
    }
    const alive = seats.filter((other) => this.ends.isAlive(other));
    const free = alive.length < this.perKey ? alive : alive.filter(({ taken }) => taken === undefined);
    // A full table makes room for several seats at once, because a pass over all of them is expensive.
    const kept = free.slice(Math.max(0, free.length - Math.floor(this.perKey * KEPT_SHARE)));
    const stays = new Set(kept);
    const dropped = [...crowd, ...alive].filter((other) => !stays.has(other) && this.ends.isAlive(other));
    this.#tables.set(tenant, key, { seats: [...kept, seat], crowd: dropped.slice(-CROWD_MAX) });
  }
}
