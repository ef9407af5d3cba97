import type { ProgramId, TenantId } from '../../src/index.js';
import type { CanonicalMessage } from '../apis/api.js';
import { Briefs, endsOf } from './briefs.js';
import type { Ends, Place } from './memory.js';
import { Growing, hashOf, type Opening } from './growing.js';
import { leadOf, textOf, type Text } from './texts.js';
import { Marked, beginsWith } from './marked.js';
import { Seats, type Answered } from './seats.js';
import { Tasks } from './tasks.js';
import { idsWith, isSystem, type Trail } from './trail.js';

/**
 * Identifies programs by their messages. Each answer takes a seat: at its place in the conversation, and under its
 * marks. A call belongs to the program of the last known answer in it:
 *
 * - By its mark, if only one program received such an answer, or received it to such a message. A mark is found even if
 *   a client cuts or rewrites its history, and the messages before the answer cost nothing.
 * - By its place. Programs with word-for-word equal runs share a place. Each call that continues from there takes a
 *   free seat, preferably one with the same ids of tool calls. If none is free, the call is a fork or a retry. It joins
 *   the program with its ids, or the one that continued last.
 * - Without any answer in it, by the content of a message: short answers after their questions (`briefs.ts`), a growing
 *   text (`growing.ts`), a whole answer or the id of one in a text, or the task of a sub-agent (`tasks.ts`).
 *
 * Ambiguous programs are never merged: a wrong split costs order, a wrong merge punishes a stranger. Each of these
 * memories holds at most `limits.conversationsMax` seats.
 */
const SEATS_MAX = 256;
/** Number of last answers that are looked up by their marks. */
const MARKED_MAX = 16;
/** Shortest answer that is recognised in a client's longer message; shorter ones begin alike by chance. */
const CONTINUED_CHARS_MIN = 16;
/** Messages that may quote answers, at both ends of a conversation. */
const QUOTING_FIRST = 2;
const QUOTING_LAST = 3;

/** Facts to remember with the answer to a call. */
export interface Leaf extends Place, Pick<Answered, 'thread' | 'opening' | 'sender' | 'last'> {
  /** Unknown marks of messages in the call: an answer that repeats one is no evidence of its program. */
  readonly foreign: ReadonlySet<string | number>;
  /** Absent if an answer at a known place, or with a known mark, named the program. */
  readonly first?: FirstCall | undefined;
}

/** Facts of a call that nothing but its texts can name. */
interface FirstCall {
  readonly growing?: Opening | undefined;
  /** Hashes of the lines of its texts, at most 8 KB. An answer led to by one of them may repeat it. */
  readonly lines: readonly number[];
  readonly question: readonly number[];
}

interface Found {
  readonly program: ProgramId | undefined;
  readonly leaf: Leaf;
}

export class History {
  readonly #places: Seats;
  readonly #marked: Marked;
  readonly #growing: Growing<Answered>;
  readonly #briefs: Briefs;
  readonly #tasks: Tasks;

  constructor(
    max: number,
    private readonly ends: Ends,
  ) {
    this.#places = new Seats(max, Math.min(SEATS_MAX, max), ends);
    this.#marked = new Marked(max, ends);
    this.#growing = new Growing(max, ends);
    this.#briefs = new Briefs(max, ends);
    this.#tasks = new Tasks(max, ends);
  }

  /** The program that the conversation continues, and the facts to remember. @param only the one program to look for */
  find(tenant: TenantId, trail: Trail, only?: ProgramId): Found {
    const foreign = new Set<string | number>();
    let marked = MARKED_MAX;
    for (let i = trail.turns.length - 1; i >= 0; i--) {
      if (trail.turns[i]?.role !== 'assistant') continue;
      const seat =
        (marked-- > 0
          ? this.#marked.find(tenant, trail.said(i), only, { foreign, last: () => trail.brief(i - 1) })
          : undefined) ?? this.#seated(tenant, trail.said(i), trail.before(i), only);
      if (!seat) continue;
      trail.resume(i, seat);
      return { program: this.take(seat), leaf: leafOf(trail, foreign, seat) };
    }
    return this.#findInTexts(tenant, trail, foreign, only);
  }

  #findInTexts(tenant: TenantId, trail: Trail, foreign: ReadonlySet<string | number>, only?: ProgramId): Found {
    const said = trail.said(trail.turns.length - 1);
    const grown = said.role === 'user' ? this.#growing.find(tenant, said, only) : {};
    const texts = textsOf(trail);
    const first = {
      growing: grown.opening,
      lines: texts.flatMap(({ lines }) => lines.map(({ hash }) => hash)),
      question: endsOf(texts.at(-1)?.lines ?? []),
    };
    const { opening } = trail;
    const seat = this.#briefs.find(tenant, trail, only) ?? this.#marked.in(tenant, texts, only) ?? grown.seat;
    if (seat) this.take(seat);
    const isBegun = trail.turns.some(({ role }) => role === 'assistant');
    const task = seat || isBegun ? undefined : texts.find(({ role }) => !isSystem(role));
    const named = seat ?? (task && this.#tasks.find(tenant, task, trail, only));
    const leaf = leafOf(trail, foreign, { thread: named?.thread ?? '', opening }, first);
    return { program: named?.program, leaf };
  }

  /** Seats the program at the current end of its conversation. @returns the seat, for `take`. */
  remember(tenant: TenantId, leaf: Leaf, answer: CanonicalMessage, program: ProgramId): Answered {
    const { chain, ids, last, thread, opening, sender, first } = leaf;
    const lead = answer.callIds === undefined ? leadOf(answer.content) : undefined;
    const seat: Answered = {
      program,
      stamp: this.ends.tick(),
      thread,
      opening,
      sender,
      chain,
      ids,
      allIds: idsWith(ids, answer),
      last,
      hash: hashOf(answer.content),
      chars: answer.content.length,
      at: lead?.at ?? 0,
      taken: undefined,
      guessed: false,
    };
    this.#places.sit(tenant, seat.chain, seat);
    const isRepeated = lead !== undefined && first?.lines.includes(lead.hash) === true;
    this.#marked.remember(tenant, answer, seat, isRepeated ? undefined : lead, leaf.foreign);
    this.#tasks.remember(tenant, answer, seat);
    if (first?.growing) this.#growing.remember(tenant, first.growing, answer, seat);
    if (first) this.#briefs.remember(tenant, first.question, answer, seat);
    return seat;
  }

  take(seat: Answered): ProgramId {
    seat.taken = this.ends.tick();
    return seat.program;
  }

  #seated(tenant: TenantId, said: CanonicalMessage, place: Place, only?: ProgramId): Answered | undefined {
    const here = this.#places.at(tenant, place.chain, only);
    if (!here) return undefined;
    const hash = hashOf(said.content);
    const same = here.filter((seat) => seat.hash === hash);
    const told = same.length > 0 ? same : here.filter((seat) => isContinued(said, seat));
    const allIds = idsWith(place.ids, said);
    const own = told.filter((seat) => seat.allIds === allIds);
    const waiting = own.findLast(({ taken }) => taken === undefined);
    if (waiting) return waiting;
    const crowded = this.#places.isCrowded(tenant, place.chain);
    if (own.length > 0 && (allIds !== '' || !crowded)) return lastTaken(own);
    // Some clients make their own ids.
    const guess = allIds === '' || crowded ? undefined : told.findLast(({ taken }) => taken === undefined);
    return guess && Object.assign(guess, { ids: place.ids, allIds, guessed: true });
  }
}

const isContinued = (said: CanonicalMessage, seat: Answered): boolean =>
  seat.chars >= CONTINUED_CHARS_MIN && seat.chars < said.content.length && beginsWith(said, seat);

const lastTaken = (seats: readonly Answered[]): Answered | undefined =>
  seats.reduce<Answered | undefined>(
    (last, seat) => ((last?.taken ?? -1) > (seat.taken ?? 0) ? last : seat),
    undefined,
  );

/** Messages of a call that may quote answers: those of users and of the system, at both ends. */
function textsOf(trail: Trail): Text[] {
  const all: number[] = [];
  trail.turns.forEach(({ role }, i) => (role === 'user' || isSystem(role)) && all.push(i));
  if (all.length > QUOTING_FIRST + QUOTING_LAST) all.splice(QUOTING_FIRST, all.length - QUOTING_FIRST - QUOTING_LAST);
  return all.map((i) => textOf(trail.said(i)));
}

function leafOf(
  trail: Trail,
  foreign: ReadonlySet<string | number>,
  { thread, opening }: Pick<Answered, 'thread' | 'opening'>,
  first?: FirstCall,
): Leaf {
  const { chain, ids } = trail.end;
  const { sender } = trail;
  return { chain, ids, last: trail.brief(trail.turns.length - 1), thread, opening, sender, foreign, first };
}
