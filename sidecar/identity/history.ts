import type { ProgramId, TenantId } from '../../src/index.js';
import type { CanonicalMessage } from '../apis/api.js';
import { askedIn, Briefs } from './briefs.js';
import type { Ends } from './ends.js';
import { Excerpts, excerptOf } from './excerpts.js';
import type { Excerpt } from './excerpts.js';
import { Growing, hashOf } from './growing.js';
import type { Opening } from './growing.js';
import { Marked, oneOf } from './marked.js';
import { beginsWith, standsAlone } from './marks.js';
import { Seats } from './seats.js';
import type { Answered } from './seats.js';
import { Tasks } from './tasks.js';
import { digest, idsWith, isSystem } from './trail.js';
import type { Place, Trail } from './trail.js';

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
export interface Leaf extends Place {
  readonly thread: string;
  /** Hash of the conversation's first message. */
  readonly opening: number;
  readonly last: string;
  /** Unknown marks of messages in the call: an answer that repeats one is no evidence of its program. */
  readonly foreign: ReadonlySet<string | number>;
  /** Absent if an answer at a known place, or with a known mark, named the program. */
  readonly first?: FirstCall | undefined;
}

/** Facts of a call that nothing but its texts can name. */
interface FirstCall {
  /** Points at which the last message may grow. */
  readonly growing?: Opening | undefined;
  /** Lines of its messages. An answer led to by one of them may be a repetition. */
  readonly lines: ReadonlySet<number>;
  /** Lines of the question. */
  readonly asked: readonly number[];
}

/** The program of a call, if known, and the facts to remember with its answer. */
interface Found {
  readonly program?: ProgramId;
  readonly leaf: Leaf;
}

export class History {
  readonly #ends: Ends;
  readonly #rewritten: boolean;
  readonly #places: Seats;
  readonly #marked: Marked;
  readonly #growing: Growing<Answered>;
  readonly #briefs: Briefs;
  readonly #quotes: Excerpts<Excerpt>;
  readonly #tasks: Tasks;

  /** @param rewritten whether to use marks and texts too, or only places */
  constructor(max: number, ends: Ends, rewritten: boolean) {
    this.#ends = ends;
    this.#rewritten = rewritten;
    this.#places = new Seats(max, Math.min(SEATS_MAX, max), ends);
    this.#marked = new Marked(max, ends);
    this.#growing = new Growing(max, ends);
    this.#briefs = new Briefs(max, ends);
    this.#quotes = new Excerpts(max, ends);
    this.#tasks = new Tasks(max, ends);
  }

  /**
   * Finds the program that the conversation continues, and the facts to remember with its answer.
   * @param only restricts the search to this program
   */
  find(tenant: TenantId, trail: Trail, only?: ProgramId): Found {
    const foreign = new Set<string | number>();
    let marked = this.#rewritten ? MARKED_MAX : 0;
    for (let i = trail.turns.length - 1; i >= 0; i--) {
      if (trail.turns[i]?.role !== 'assistant') continue;
      const seat =
        (marked-- > 0
          ? this.#marked.find(tenant, trail.said(i), only, { foreign, last: () => trail.brief(i - 1) })
          : undefined) ?? this.#seated(tenant, trail.said(i), trail.before(i), only);
      if (!seat) continue;
      trail.resume(i, seat);
      return { program: this.#take(seat), leaf: leafOf(trail, foreign, seat) };
    }
    return this.#rewritten ? this.#findInTexts(tenant, trail, foreign, only) : { leaf: leafOf(trail, foreign, ROOT) };
  }

  /** Finds a program that nothing but the texts of its call can name. */
  #findInTexts(tenant: TenantId, trail: Trail, foreign: ReadonlySet<string | number>, only?: ProgramId): Found {
    const said = trail.said(trail.turns.length - 1);
    const grown = said.role === 'user' ? this.#growing.find(tenant, said, only) : {};
    const lines = new Set<number>();
    const seat = this.#briefs.find(tenant, trail, only) ?? this.#quoted(tenant, trail, lines, only) ?? grown.seat;
    const first = { growing: grown.opening, lines, asked: askedIn(said) };
    const { opening } = trail;
    if (seat)
      return { program: this.#take(seat), leaf: leafOf(trail, foreign, { thread: seat.thread, opening }, first) };
    const task = this.#tasks.find(tenant, trail, only);
    const thread = task?.thread ?? '';
    return { ...(task && { program: task.program }), leaf: leafOf(trail, foreign, { thread, opening }, first) };
  }

  /** Seats the program at the current end of its conversation. @returns the seat, for `leave`. */
  remember(tenant: TenantId, leaf: Leaf, answer: CanonicalMessage, program: ProgramId): Answered {
    const { chain, ids, last, thread, opening, first } = leaf;
    const seat: Answered = {
      program,
      number: numberOf(program),
      stamp: this.#ends.tick(),
      thread,
      opening,
      chain,
      ids,
      allIds: idsWith(ids, answer),
      last,
      hash: digest(answer.content),
      chars: answer.content.length,
      taken: undefined,
      guessed: false,
    };
    this.#places.sit(tenant, seat.chain, seat);
    if (!this.#rewritten) return seat;
    this.#marked.remember(tenant, answer, seat, leaf.foreign);
    this.#tasks.remember(tenant, answer, seat);
    const quote = standsAlone(seat) && answer.callIds === undefined ? excerptOf(answer.content, seat) : undefined;
    if (quote && first?.lines.has(quote.line) !== true) this.#quotes.remember(tenant, quote);
    if (first?.growing) this.#growing.remember(tenant, first.growing, answer, seat);
    if (first) this.#briefs.remember(tenant, first.asked, answer, seat);
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

  /** The one program whose whole answers, or their ids, appear in the texts of a call; undefined if there are several. */
  #quoted(tenant: TenantId, trail: Trail, lines: Set<number>, only: ProgramId | undefined): Answered | undefined {
    const seats = quotingIn(trail).flatMap((said) => {
      const quoted = this.#quotes.in(tenant, said.content, lines).map(({ seat }) => seat);
      const printed = this.#marked.printed(tenant, said, only);
      return printed ? [...quoted, printed] : quoted;
    });
    const seat = oneOf(seats);
    return seat && (only ?? seat.program) === seat.program ? seat : undefined;
  }

  #seated(tenant: TenantId, said: CanonicalMessage, place: Place, only?: ProgramId): Answered | undefined {
    const seats = this.#places.at(tenant, place.chain);
    if (!seats) return undefined;
    const hash = digest(said.content);
    const here = seats.filter((seat) => (only ?? seat.program) === seat.program && this.#ends.isAlive(seat));
    const same = here.filter((seat) => seat.hash === hash);
    const told = same.length > 0 ? same : here.filter((seat) => this.#isContinued(said, seat));
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

  #isContinued(said: CanonicalMessage, seat: Answered): boolean {
    return (
      this.#rewritten && seat.chars >= CONTINUED_CHARS_MIN && seat.chars < said.content.length && beginsWith(said, seat)
    );
  }
}

/** A small integer, which V8 stores and compares unboxed. */
const numberOf = (program: ProgramId): number => hashOf(program) % 2 ** 30;

const lastTaken = (seats: readonly Answered[]): Answered | undefined =>
  seats.reduce<Answered | undefined>(
    (last, seat) => ((last?.taken ?? -1) > (seat.taken ?? 0) ? last : seat),
    undefined,
  );

/** Messages of a call that may quote answers: those of users and of the system, at both ends. */
function quotingIn(trail: Trail): CanonicalMessage[] {
  const all = [...trail.turns.keys()].filter((i) => {
    const role = trail.turns[i]?.role ?? '';
    return role === 'user' || isSystem(role);
  });
  const ends =
    all.length <= QUOTING_FIRST + QUOTING_LAST ? all : [...all.slice(0, QUOTING_FIRST), ...all.slice(-QUOTING_LAST)];
  return ends.map((i) => trail.said(i));
}

/** The thread of a call, and its opening. */
type Line = Pick<Answered, 'thread' | 'opening'>;

const ROOT: Line = { thread: '', opening: 0 };

function leafOf(
  trail: Trail,
  foreign: ReadonlySet<string | number>,
  { thread, opening }: Line,
  first?: FirstCall,
): Leaf {
  const { chain, ids } = trail.end;
  return { chain, ids, last: trail.brief(trail.turns.length - 1), thread, opening, foreign, first };
}
