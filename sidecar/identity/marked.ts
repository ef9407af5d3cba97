import type { ProgramId, TenantId } from '../../src/index.js';
import type { CanonicalMessage } from '../apis/api.js';
import type { Ends } from './ends.js';
import { Excerpts, type Excerpt } from './excerpts.js';
import { textOf, type Line, type Text } from './lines.js';
import { beginsWith, idOf, printedIds, standsAlone, wholeOf } from './marks.js';
import { Seats, type Answered } from './seats.js';

const SEATS_MAX = 64;

type Foreign = ReadonlySet<string | number>;

/** The call that contains a marked answer. */
export interface MarkedCall {
  /** Collects the unknown marks. */
  readonly foreign: Set<string | number>;
  /** Hash of the message before the answer. */
  readonly last: () => number;
}

/**
 * Finds answers by their marks, and inside of longer messages. An answer names its program if only one program received
 * it, or only one to such a message. At most `max` seats by whole answers, as many by ids, and as many by lines.
 */
export class Marked {
  readonly #wholes: Seats;
  readonly #ids: Seats;
  readonly #texts: Excerpts<Answered>;

  constructor(
    max: number,
    private readonly ends: Ends,
  ) {
    this.#wholes = new Seats(max, SEATS_MAX, ends);
    this.#ids = new Seats(max, SEATS_MAX, ends);
    this.#texts = new Excerpts(max, ends);
  }

  /**
   * @param line line that leads to the answer in a longer message; undefined: none
   * @param foreign marks of messages in the call: an answer that repeats one is no evidence of its program
   */
  remember(tenant: TenantId, answer: CanonicalMessage, seat: Answered, line: Line | undefined, foreign: Foreign): void {
    const [whole, id] = [wholeOf(answer), idOf(answer)];
    if (id !== undefined && !foreign.has(id)) this.#ids.sit(tenant, id, seat);
    if (whole === undefined || foreign.has(whole)) return;
    this.#wholes.sit(tenant, whole, seat);
    if (line) this.#texts.remember(tenant, line.hash, seat);
  }

  find(tenant: TenantId, said: CanonicalMessage, only?: ProgramId, call?: MarkedCall): Answered | undefined {
    const id = idOf(said);
    const own =
      id === undefined ? [] : this.#at(this.#ids, tenant, id, only, call).filter((seat) => beginsWith(said, seat));
    const seat = oneOf(own) ?? this.#byWhole(tenant, said, only, call);
    if (seat || said.callIds !== undefined) return seat;
    const text = textOf(said);
    return this.in(tenant, [text], only) ?? (call && this.#partly(tenant, text, call.last(), only));
  }

  /** The one program that gave all the whole answers in texts, and the ids there. */
  in(tenant: TenantId, texts: readonly Text[], only?: ProgramId): Answered | undefined {
    const seats = texts.flatMap((text) => {
      const whole = this.#texts
        .in(tenant, text.content, text.lines)
        .filter((seat) => !seat.guessed && standsAlone(seat));
      return [...whole, this.#printed(tenant, text, only)].filter((seat) => seat !== undefined);
    });
    return inAll(seats.filter(({ program }) => (only ?? program) === program));
  }

  /** The one program whose answer to the same message has a line of this one: clients drop and add fields. */
  #partly(tenant: TenantId, { lines }: Text, last: number, only?: ProgramId): Answered | undefined {
    const seats = this.#texts.led(tenant, lines).map(({ excerpt }) => excerpt);
    return oneOf(
      seats.filter((seat) => !seat.guessed && seat.last === last && (only ?? seat.program) === seat.program),
    );
  }

  /** The program of the latest known id that is printed in a text. */
  #printed(tenant: TenantId, { content }: CanonicalMessage, only?: ProgramId): Answered | undefined {
    for (const id of printedIds(content)) {
      const seat = oneOf(this.#at(this.#ids, tenant, id, only));
      if (seat) return seat;
    }
    return undefined;
  }

  #byWhole(tenant: TenantId, said: CanonicalMessage, only?: ProgramId, call?: MarkedCall): Answered | undefined {
    const whole = wholeOf(said);
    if (whole === undefined) return undefined;
    const loose = this.#at(this.#wholes, tenant, whole, only, call);
    if (loose.length === 0 || oneOf(loose)) return alone(loose, call);
    const exact = loose.filter((seat) => beginsWith(said, seat));
    return alone(exact.length > 0 ? exact : loose, call);
  }

  /** The seats under a mark that may be the answer's; none in a crowd. */
  #at(seats: Seats, tenant: TenantId, mark: string | number, only?: ProgramId, call?: MarkedCall): Answered[] {
    const known = seats.at(tenant, mark);
    if (!known) call?.foreign.add(mark);
    if (!known || seats.isCrowded(tenant, mark)) return [];
    return known.filter(
      (seat) => !seat.guessed && (only === undefined || seat.program === only) && this.ends.isAlive(seat),
    );
  }
}

/** The one program that got the answer, or got it to the same message as this call. */
const alone = (seats: readonly Answered[], call?: MarkedCall): Answered | undefined =>
  oneOf(seats.filter(standsAlone)) ?? (call && oneOf(seats.filter(({ last }) => last === call.last())));

/** The latest seat of the one program that has all the texts. */
export function inAll<S extends Excerpt>(seats: readonly S[]): S | undefined {
  const texts = new Map<ProgramId, Set<number>>();
  for (const { program, hash } of seats) texts.set(program, (texts.get(program) ?? new Set()).add(hash));
  const all = new Set(seats.map(({ hash }) => hash)).size;
  const [one, another] = [...texts].filter(([, own]) => own.size === all);
  return another ? undefined : seats.findLast(({ program }) => program === one?.[0]);
}

/** The latest seat, if all belong to one program. */
export function oneOf(seats: readonly Answered[]): Answered | undefined {
  const program = seats[0]?.program;
  return seats.every((seat) => seat.program === program) ? seats.at(-1) : undefined;
}
