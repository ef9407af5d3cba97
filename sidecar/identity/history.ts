import type { ProgramId, TenantId } from '../../src/index.js';
import type { CanonicalMessage } from '../apis/api.js';
import type { Ends, Seat } from './ends.js';
import { Growing, hashOf } from './growing.js';
import type { Opening } from './growing.js';
import { beginsWith, bears, markOf, marksOf, quotesIn, standsAlone } from './marks.js';
import type { Told } from './marks.js';
import { SharedCache } from './shared-cache.js';
import { digest, idsWith } from './trail.js';
import type { Place, Trail } from './trail.js';

/**
 * Identifies programs by their messages. Each answer takes a seat: at its place in the conversation, and under its
 * mark. A call belongs to the program of the last known answer in it:
 *
 * - By its mark, if only one program received such an answer, or received it to such a message. A mark is found even if
 *   a client cuts or rewrites its history, and the messages before the answer cost nothing.
 * - By its place. Programs with word-for-word equal runs share a place. Each call that continues from there takes a
 *   free seat, preferably one with the same ids of tool calls. If none is free, the call is a fork or a retry. It joins
 *   the program with its ids, or the one that continued last.
 * - Without any answer in it, by the content of one message: a printed conversation, or a growing text (`growing.ts`).
 *
 * Ambiguous programs are never merged: a wrong split costs order, a wrong merge punishes a stranger.
 */
const SEATS_MAX = 256;
const MARK_SEATS_MAX = 64;
/** Share of a full table's seats that stay, the latest ones. */
const KEPT_SHARE = 0.75;
/** Number of last answers that are looked up by their marks. */
const MARKED_MAX = 16;
/** Shortest answer that is recognised in a client's longer message; shorter ones begin alike by chance. */
const CONTINUED_CHARS_MIN = 16;

/** The place of an answer, and its identity. */
export interface Answered extends Seat, Place, Told {
  /** Hash of the program, compared before the programs: a thousand comparisons of strings take 30 µs. */
  readonly number: number;
  /** Hash of the message before the answer. */
  readonly last: string;
  /** Hash of the ids of all tool calls up to and including this answer, as sent by the client that took the seat. */
  readonly allIds: string;
  /** Stamp at which its program continued from here; absent if it has not. */
  taken: number | undefined;
  /** Whether the seat was taken by a call with ids other than the answer's own. */
  guessed: boolean;
}

/** Facts to remember with the answer to a call. */
export interface Leaf extends Place {
  readonly last: string;
  /** Unknown marks of messages in the call: an answer that repeats one is no evidence of its program. */
  readonly foreign: ReadonlySet<string>;
  /** Points at which the call's last message may grow; absent if the history named the program. */
  readonly opening?: Opening | undefined;
}

interface Table {
  readonly seats: Answered[];
  /** Whether seats were dropped here, so that a call without a match may be a stranger's. */
  readonly crowded: boolean;
}

export class History {
  readonly #ends: Ends;
  readonly #rewritten: boolean;
  readonly #tables: SharedCache<Table>;
  readonly #marks: SharedCache<Table>;
  readonly #growing: Growing<Answered>;
  readonly #seatsMax: number;

  /** @param rewritten whether to use marks and growing messages too, or only places */
  constructor(max: number, ends: Ends, rewritten: boolean) {
    this.#ends = ends;
    this.#rewritten = rewritten;
    this.#seatsMax = Math.min(SEATS_MAX, max);
    this.#tables = new SharedCache(max, ({ seats }) => seats.length);
    this.#marks = new SharedCache(max, ({ seats }) => seats.length);
    this.#growing = new Growing(max, ends);
  }

  /**
   * Finds the program that the conversation continues, and the facts to remember with its answer.
   * @param only restricts the search to this program
   */
  find(tenant: TenantId, trail: Trail, only?: ProgramId): { readonly program?: ProgramId; readonly leaf: Leaf } {
    const foreign = new Set<string>();
    let marked = this.#rewritten ? MARKED_MAX : 0;
    for (let i = trail.turns.length - 1; i >= 0; i--) {
      if (trail.turns[i]?.role !== 'assistant') continue;
      const seat =
        (marked-- > 0
          ? this.#marked(tenant, trail.said(i), only, { foreign, last: () => trail.brief(i - 1) })
          : undefined) ?? this.#seated(tenant, trail.said(i), trail.before(i), only);
      if (!seat) continue;
      trail.resume(i, seat);
      return { program: this.#take(seat), leaf: leafOf(trail, foreign) };
    }
    const said = trail.said(trail.turns.length - 1);
    if (!this.#rewritten || said.role !== 'user') return { leaf: leafOf(trail, foreign) };
    const { seat, opening } = this.#growing.find(tenant, said, only);
    const found = this.#quoted(tenant, said, only) ?? seat;
    const leaf = leafOf(trail, foreign, opening);
    return found ? { program: this.#take(found), leaf } : { leaf };
  }

  /** Seats the program at the current end of its conversation. @returns the seat, for `leave`. */
  remember(tenant: TenantId, leaf: Leaf, answer: CanonicalMessage, program: ProgramId): Answered {
    const { chain, ids, last } = leaf;
    const seat: Answered = {
      program,
      number: numberOf(program),
      stamp: this.#ends.tick(),
      chain,
      ids,
      allIds: idsWith(ids, answer),
      last,
      hash: digest(answer.content),
      chars: answer.content.length,
      taken: undefined,
      guessed: false,
    };
    this.#sit(this.#tables, tenant, seat.chain, seat, this.#seatsMax);
    const mark = this.#rewritten ? markOf(answer) : undefined;
    if (mark !== undefined && !leaf.foreign.has(mark)) this.#sit(this.#marks, tenant, mark, seat, MARK_SEATS_MAX);
    if (leaf.opening) this.#growing.remember(tenant, leaf.opening, answer, seat);
    return seat;
  }

  /** Marks the seat as taken: the program continued from there, identified by other means. */
  leave(seat: Answered): void {
    this.#take(seat);
  }

  #take(seat: Answered): ProgramId {
    seat.taken = this.#ends.tick();
    return seat.program;
  }

  #sit(tables: SharedCache<Table>, tenant: TenantId, key: string, seat: Answered, max: number): void {
    const { seats, crowded } = tables.get(tenant, key) ?? { seats: [], crowded: false };
    const before = seats.findLastIndex(
      (other) => other.number === seat.number && other.program === seat.program && other.hash === seat.hash,
    );
    if (before >= 0) seats.splice(before, 1);
    if (seats.length < max) {
      seats.push(seat);
      tables.set(tenant, key, { seats, crowded });
      return;
    }
    const alive = seats.filter((other) => this.#ends.isAlive(other));
    const free = alive.length < max ? alive : alive.filter(({ taken }) => taken === undefined);
    // A full table makes room for several seats at once, because a pass over all of them is expensive.
    const kept = free.slice(Math.max(0, free.length - Math.floor(max * KEPT_SHARE)));
    tables.set(tenant, key, { seats: [...kept, seat], crowded: crowded || kept.length < alive.length });
  }

  #marked(
    tenant: TenantId,
    said: CanonicalMessage,
    only: ProgramId | undefined,
    call?: MarkedCall,
  ): Answered | undefined {
    for (const mark of marksOf(said)) {
      const table = this.#marks.get(tenant, mark);
      if (!table) call?.foreign.add(mark);
      if (!table || table.crowded) continue;
      const fits = table.seats.filter((seat) => !seat.guessed && this.#isFor(seat, only) && bears(said, mark, seat));
      const chars = Math.max(...fits.map((seat) => seat.chars));
      const told = fits.filter((seat) => seat.chars === chars);
      const alone = told.filter((seat) => standsAlone(mark, seat));
      const seat = oneOf(alone) ?? (call && oneOf(told.filter(({ last }) => last === call.last())));
      if (seat) return seat;
    }
    return undefined;
  }

  /** The one program whose answers appear in a printed conversation; undefined if there are several. */
  #quoted(tenant: TenantId, said: CanonicalMessage, only: ProgramId | undefined): Answered | undefined {
    let found: Answered | undefined;
    for (const content of quotesIn(said.content)) {
      const seat = this.#marked(tenant, { role: 'assistant', content }, only);
      if (seat && found && seat.program !== found.program) return undefined;
      found = seat ?? found;
    }
    return found;
  }

  #seated(tenant: TenantId, said: CanonicalMessage, place: Place, only?: ProgramId): Answered | undefined {
    const table = this.#tables.get(tenant, place.chain);
    if (!table) return undefined;
    const hash = digest(said.content);
    const here = table.seats.filter((seat) => this.#isFor(seat, only));
    const same = here.filter((seat) => seat.hash === hash);
    const told = same.length > 0 ? same : here.filter((seat) => this.#isContinued(said, seat));
    const allIds = idsWith(place.ids, said);
    const own = told.filter((seat) => seat.allIds === allIds);
    const waiting = own.findLast(({ taken }) => taken === undefined);
    if (waiting) return waiting;
    if (own.length > 0 && (allIds !== '' || !table.crowded)) return lastTaken(own);
    // Some clients make their own ids.
    const guess = allIds === '' || table.crowded ? undefined : told.findLast(({ taken }) => taken === undefined);
    return guess && Object.assign(guess, { ids: place.ids, allIds, guessed: true });
  }

  #isContinued(said: CanonicalMessage, seat: Answered): boolean {
    return (
      this.#rewritten && seat.chars >= CONTINUED_CHARS_MIN && seat.chars < said.content.length && beginsWith(said, seat)
    );
  }

  #isFor(seat: Answered, only: ProgramId | undefined): boolean {
    return (only === undefined || seat.program === only) && this.#ends.isAlive(seat);
  }
}

/** A small integer, which V8 stores and compares unboxed. */
const numberOf = (program: ProgramId): number => hashOf(program) % 2 ** 30;

const lastTaken = (seats: readonly Answered[]): Answered | undefined =>
  seats.reduce<Answered | undefined>(
    (last, seat) => ((last?.taken ?? -1) > (seat.taken ?? 0) ? last : seat),
    undefined,
  );

function leafOf(trail: Trail, foreign: ReadonlySet<string>, opening?: Opening): Leaf {
  const { chain, ids } = trail.end;
  return { chain, ids, last: trail.brief(trail.turns.length - 1), foreign, opening };
}

/** The call that contains a marked answer. */
interface MarkedCall {
  /** Collects the unknown marks. */
  readonly foreign: Set<string>;
  /** Hash of the message before the answer. */
  readonly last: () => string;
}

/** The latest seat, if all belong to one program. */
function oneOf(seats: readonly Answered[]): Answered | undefined {
  const program = seats[0]?.program;
  return seats.every((seat) => seat.program === program) ? seats.at(-1) : undefined;
}
