import type { ProgramId, TenantId } from '../../src/index.js';
import { SharedCache, type Ends, type Excerpt, type Place, type Seat, type Told } from './memory.js';

/** Share of a full table's seats that stay, the latest ones. */
const KEPT_SHARE = 0.75;
/** Dropped seats that a full table keeps in mind. */
const CROWD_MAX = 16;

export interface Answered extends Excerpt, Place {
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

interface Table<S> {
  readonly seats: S[];
  /** All programs that have a seat: looking at each seat would push other data out of the CPU’s cache. */
  readonly owners: Set<ProgramId>;
  /** Seats that were dropped for lack of room while their programs lived, the latest ones. */
  readonly crowd: readonly S[];
}

const isTable = <S extends object>(kept: S | Table<S>): kept is Table<S> => 'seats' in kept;

/** Traces that an answer of a program left behind. */
export interface Left extends Seat, Pick<Told, 'hash'> {
  readonly taken?: number | undefined;
}

const tableOf = <S extends Left>(seats: S[], crowd: readonly S[]): Table<S> => ({
  seats,
  owners: new Set(seats.map(({ program }) => program)),
  crowd,
});

const isSame = (one: Left, other: Left): boolean => one.hash === other.hash && one.program === other.program;

/** Seats by key, at most `max` in all and `perKey` under each. */
export class Seats<S extends Left = Answered> {
  /** Most keys have one seat. By itself it takes half the memory of a table. */
  readonly #kept: SharedCache<S | Table<S>>;

  constructor(
    max: number,
    private readonly perKey: number,
    private readonly ends: Ends,
  ) {
    this.#kept = new SharedCache(max, (kept) => (isTable(kept) ? kept.seats.length : 1));
  }

  /** The seats of programs that live, or of the only one to look for; undefined: nobody has sat there. */
  at(tenant: TenantId, key: string | number, only?: ProgramId): readonly S[] | undefined {
    const kept = this.#kept.get(tenant, key);
    const seats = kept && (isTable(kept) ? kept.seats : [kept]);
    return seats?.filter((seat) => (only ?? seat.program) === seat.program && this.ends.isAlive(seat));
  }

  /** Whether living programs have lost their seats here, so that a call without a match may be a stranger's. */
  isCrowded(tenant: TenantId, key: string | number): boolean {
    const kept = this.#kept.get(tenant, key);
    return kept !== undefined && isTable(kept) && kept.crowd.some((seat) => this.ends.isAlive(seat));
  }

  sit(tenant: TenantId, key: string | number, seat: S): void {
    const kept = this.#kept.get(tenant, key);
    if (!kept || (!isTable(kept) && isSame(kept, seat))) {
      this.#kept.set(tenant, key, seat);
      return;
    }
    const { seats, owners, crowd } = isTable(kept) ? kept : tableOf([kept], []);
    const before = owners.has(seat.program) ? seats.findLastIndex((other) => isSame(other, seat)) : -1;
    if (before >= 0) seats.splice(before, 1);
    if (seats.length < this.perKey) {
      seats.push(seat);
      this.#kept.set(tenant, key, { seats, owners: owners.add(seat.program), crowd });
      return;
    }
    const alive = seats.filter((other) => this.ends.isAlive(other));
    const free = alive.length < this.perKey ? alive : alive.filter(({ taken }) => taken === undefined);
    // A full table makes room for several seats at once, because a pass over all of them is expensive.
    const stays = free.slice(Math.max(0, free.length - Math.floor(this.perKey * KEPT_SHARE)));
    const staying = new Set(stays);
    const dropped = [...crowd, ...alive].filter((other) => !staying.has(other) && this.ends.isAlive(other));
    this.#kept.set(tenant, key, tableOf([...stays, seat], dropped.slice(-CROWD_MAX)));
  }
}
