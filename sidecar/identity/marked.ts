import type { ProgramId, TenantId } from '../../src/index.js';
import type { CanonicalMessage } from '../apis/api.js';
import { hashOf } from './growing.js';
import type { Ends, Excerpt, Told } from './memory.js';
import { Seats, type Answered } from './seats.js';
import { Excerpts, textOf, type Line, type Text } from './texts.js';

const SEATS_MAX = 64;

type Foreign = ReadonlySet<string | number>;

/** The call that contains a marked answer: collects its unknown marks, and hashes the message before the answer. */
interface MarkedCall {
  readonly foreign: Set<string | number>;
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

  constructor(max: number, ends: Ends) {
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
    if (line) this.#texts.sit(tenant, line.hash, seat);
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
    if (seats.isCrowded(tenant, mark)) return [];
    const known = seats.at(tenant, mark, only);
    if (!known) call?.foreign.add(mark);
    return known?.filter(({ guessed }) => !guessed) ?? [];
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
function oneOf(seats: readonly Answered[]): Answered | undefined {
  const program = seats[0]?.program;
  return seats.every((seat) => seat.program === program) ? seats.at(-1) : undefined;
}

/* Marks identify an answer after any other messages: its whole content, and the id of its first tool call. */

/** Shorter answers have no mark but an id. */
const CHARS_MIN = 32;
/** Length from which an answer without an id identifies its program, whichever message it answered. */
const ALONE_CHARS_MIN = 64;
/** Shorter ids are counters (`call_0`), which every program has. */
const ID_CHARS_MIN = 9;
/** No engine makes longer ids, and they would be stored. */
const ID_CHARS_MAX = 128;
/** Ids in tool calls that clients print as text: JSON, Python or XML. */
const PRINTED_ID = /\bid["']?(?:: ?|=)["']([^"'\\]{9,128})["']/g;
/** The same, without the copy of the pattern that `matchAll` makes. */
const HAS_PRINTED_ID = new RegExp(PRINTED_ID.source);
/** Counted ids (`functions.bash:0`), which every program has. */
const COUNTED = /[:_]\d{1,4}$/;
/** Most printed ids to check, and the longest text to search for them. */
const PRINTED_MAX = 16;
const PRINTED_CHARS_MAX = 131_072;

/** The mark of a whole answer; `undefined` for a short one. */
export function wholeOf({ content }: CanonicalMessage): number | undefined {
  if (content.length < CHARS_MIN) return undefined;
  if (!content.startsWith('\u0000')) return looseHash(content, 0);
  // Some clients send back nothing but the arguments of the one tool.
  const at = content.indexOf('\u0000', 1) + 1;
  return looseHash(content, content.includes('\u0000', at) ? 0 : at);
}

export function idOf({ callIds }: CanonicalMessage): string | undefined {
  if (callIds === undefined) return undefined;
  const end = callIds.indexOf('\u0000');
  const id = end < 0 ? callIds : callIds.slice(0, end);
  return id.length < ID_CHARS_MIN || id.length > ID_CHARS_MAX ? undefined : `i${id}`;
}

const printedIds = (content: string): string[] =>
  content.length > PRINTED_CHARS_MAX || !HAS_PRINTED_ID.test(content)
    ? []
    : [...content.matchAll(PRINTED_ID)]
        .map(([, id = '']) => id)
        .filter((id) => !COUNTED.test(id))
        .slice(-PRINTED_MAX)
        .map((id) => `i${id}`);

export const beginsWith = ({ content }: CanonicalMessage, { hash, chars }: Told): boolean =>
  content.length >= chars && hashOf(content, 0, chars) === hash;

export const standsAlone = ({ chars }: Pick<Told, 'chars'>): boolean => chars >= ALONE_CHARS_MIN;

/** Classes of ASCII characters in a text that a client may re-print. */
const [KEPT, SKIPPED, SEPARATING] = [0, 1, 2];
const CLASSES = Uint8Array.from({ length: 128 }, (_, code) =>
  code <= 32 || `"'\\`.includes(String.fromCharCode(code))
    ? SKIPPED
    : ',{}[]'.includes(String.fromCharCode(code))
      ? SEPARATING
      : KEPT,
);
const SEED_LOW = 0xdeadbeef;
const SEED_HIGH = 0x41c6ce57;

/**
 * 53 bits of a text without its white space, quotes and escapes, its parts between commas and brackets in any order:
 * clients re-print JSON, and sort its keys. No tenant reads another's marks, so a collision harms only its author.
 */
function looseHash(text: string, from: number): number {
  let low = SEED_LOW;
  let high = SEED_HIGH;
  let sumLow = 0;
  let sumHigh = 0;
  for (let i = from; i <= text.length; i++) {
    const code = i < text.length ? text.charCodeAt(i) : 44;
    const kind = code < 128 ? CLASSES[code] : KEPT;
    if (kind === SKIPPED) continue;
    if (kind === SEPARATING) {
      low = Math.imul(low ^ (high >>> 15), 0x735a2d97);
      high = Math.imul(high ^ (low >>> 15), 0x0b36534f);
      sumLow = (sumLow + (low ^ (low >>> 16))) | 0;
      sumHigh = (sumHigh + (high ^ (high >>> 16))) | 0;
      low = SEED_LOW;
      high = SEED_HIGH;
    } else {
      low = Math.imul(low ^ code, 0x9e3779b1);
      high = Math.imul(high ^ code, 0x5f356495);
    }
  }
  return (sumHigh & 0x1fffff) * 0x1_0000_0000 + (sumLow >>> 0);
}
