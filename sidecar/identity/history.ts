import type { ProgramId, TenantId } from '../../src/index.js';
import type { CanonicalMessage } from '../apis/api.js';
import type { Ends, Seat } from './ends.js';
import { Growing } from './growing.js';
import type { Opening } from './growing.js';
import { beginsWith, bears, markOf, marksOf, quotesIn, standsAlone } from './marks.js';
import type { Told } from './marks.js';
import { SharedCache } from './shared-cache.js';
import { digest, idsWith } from './trail.js';
import type { Place, Trail } from './trail.js';

/**
 * Programs told by their messages. Each answer that is given takes a seat: at the place in the conversation where it was
 * given, and under its mark. A call belongs to the program of the last answer in it that is found:
 *
 * - by its mark, if one program alone was given such an answer, or such an answer to such a message. This is also found where
 *   a client cuts or rewrites its history, and costs nothing for all that stands before the answer.
 * - by its place. Programs that run alike, word by word, sit at one place together: each call that goes on from there takes
 *   a seat that nobody has taken, first one with the same ids of tool calls all along. Where all are taken, it is a fork or a
 *   retry and joins the one with its ids, or the one that went on last.
 * - without any answer in it, by what one message holds: a printed conversation, or a text that grows (`growing.ts`).
 *
 * What cannot be told apart is never merged: a wrong split costs order, a wrong merge punishes a stranger.
 */
const SEATS_MAX = 1024;
const MARK_SEATS_MAX = 64;
/** Marks are looked up for so many of the last answers. */
const MARKED_MAX = 16;
/** An answer that a client went on writing is taken for ours from this length on; shorter ones begin alike by chance. */
const CONTINUED_CHARS_MIN = 16;

/** Where an answer was given, and which. */
export interface Answered extends Seat, Place, Told {
  /** Of the message that it was given to. */
  readonly last: string;
  /** Hash of the ids of all tool calls up to and with this answer, as the client that took the seat sends them. */
  readonly allIds: string;
  /** When its program went on from here; absent if it has not. */
  taken: number | undefined;
  /** Whether it was given to a call with other ids than it was made with. */
  guessed: boolean;
}

/** What an answer to a call is remembered by. */
export interface Leaf extends Place {
  readonly last: string;
  /** Marks of messages in the call that were not known: an answer that repeats one is no sign of its program. */
  readonly foreign: ReadonlySet<string>;
  /** Where the call's last message may grow; absent where the history named the program. */
  readonly opening?: Opening | undefined;
}

interface Table {
  readonly seats: readonly Answered[];
  /** Seats were dropped here: who finds none may be a stranger. */
  readonly crowded: boolean;
}

export class History {
  readonly #ends: Ends;
  readonly #rewritten: boolean;
  readonly #tables: SharedCache<Table>;
  readonly #marks: SharedCache<Table>;
  readonly #growing: Growing<Answered>;
  readonly #seatsMax: number;

  /** @param rewritten whether programs are also told by marks and growing messages, or by places alone. */
  constructor(max: number, ends: Ends, rewritten: boolean) {
    this.#ends = ends;
    this.#rewritten = rewritten;
    this.#seatsMax = Math.min(SEATS_MAX, max);
    this.#tables = new SharedCache(max, ({ seats }) => seats.length);
    this.#marks = new SharedCache(max, ({ seats }) => seats.length);
    this.#growing = new Growing(max, ends);
  }

  /**
   * The program that the conversation goes on from, and what its answer will be remembered by.
   * @param only looks for this program alone.
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

  /** Seats the program where its conversation now stands. @returns the seat, for `leave`. */
  remember(tenant: TenantId, leaf: Leaf, answer: CanonicalMessage, program: ProgramId): Answered {
    const { chain, ids, last } = leaf;
    const seat: Answered = {
      program,
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

  /** The program has gone on from there by another sign than its history. */
  leave(seat: Answered): void {
    this.#take(seat);
  }

  #take(seat: Answered): ProgramId {
    seat.taken = this.#ends.tick();
    return seat.program;
  }

  #sit(tables: SharedCache<Table>, tenant: TenantId, key: string, seat: Answered, max: number): void {
    const { seats, crowded } = tables.get(tenant, key) ?? { seats: [], crowded: false };
    const others = seats.filter(
      (other) => this.#ends.isAlive(other) && !(other.program === seat.program && other.hash === seat.hash),
    );
    const free = others.length < max ? others : others.filter(({ taken }) => taken === undefined);
    const kept = max > 1 ? free.slice(-max + 1) : [];
    tables.set(tenant, key, { seats: [...kept, seat], crowded: crowded || kept.length < others.length });
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

  /** The one program whose answers stand in a printed conversation. */
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
    // Some clients make ids of their own.
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

const lastTaken = (seats: readonly Answered[]): Answered | undefined =>
  seats.reduce<Answered | undefined>(
    (last, seat) => ((last?.taken ?? -1) > (seat.taken ?? 0) ? last : seat),
    undefined,
  );

function leafOf(trail: Trail, foreign: ReadonlySet<string>, opening?: Opening): Leaf {
  const { chain, ids } = trail.end;
  return { chain, ids, last: trail.brief(trail.turns.length - 1), foreign, opening };
}

/** The call in which an answer with a mark stands. */
interface MarkedCall {
  /** Takes the marks that are not known. */
  readonly foreign: Set<string>;
  /** Of the message before the answer. */
  readonly last: () => string;
}

/** The latest, if all are one program's. */
function oneOf(seats: readonly Answered[]): Answered | undefined {
  const program = seats[0]?.program;
  return seats.every((seat) => seat.program === program) ? seats.at(-1) : undefined;
}
