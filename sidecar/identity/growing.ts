import type { ProgramId, TenantId } from '../../src/index.js';
import type { CanonicalMessage } from '../apis/api.js';
import type { Ends } from './memory.js';
import { Seats, type Left } from './seats.js';

/**
 * Programs whose whole history is one growing user message (dspy's ReAct and other prompts filled from a template):
 *
 *     call 1:  question ──────────────── instructions
 *     call 2:  question ── answer 1, result ── instructions
 *
 * A call continues another if it starts with the other's message, up to one of its last lines. A line of the other's
 * answer must follow. A common beginning alone proves nothing: many programs ask about one long document.
 */
/** Shorter messages hold no history. Longer ones are skipped, because each character costs a nanosecond or more. */
const CHARS_MIN = 256;
const CHARS_MAX = 131_072;
/** Texts of more lines are skipped: each costs a microsecond. */
const LINES_MAX = 4096;
/** Shortest common beginning that counts as evidence, in characters. */
const BEGINNING_CHARS_MIN = 32;
/** Last lines of a message after which it may grow. Blank lines are not counted, here and below. */
const TAIL_LINES = 2;
/** Lines after the beginning that must include a line of the answer. */
const NEW_LINES = 16;
/** Lines remembered per answer, the longest ones. */
const ANSWER_LINES = 4;
const LINE_CHARS_MIN = 16;
/** Most programs that wait to grow from one beginning; beyond, they cannot be distinguished. */
const SEATS_MAX = 64;

/** Points at which a message may grow: hashes of it up to each of its last lines, and of these. */
export interface Opening {
  readonly beginnings: readonly number[];
  readonly tail: ReadonlySet<number>;
}

interface Grower<S> extends Left {
  readonly seat: S;
  readonly lines: readonly number[];
}

export class Growing<S extends Left> extends Seats<Grower<S>> {
  constructor(max: number, ends: Ends) {
    super(max, SEATS_MAX, ends);
  }

  find(tenant: TenantId, { content }: CanonicalMessage, only?: ProgramId): { seat?: S | undefined; opening?: Opening } {
    if (content.length < CHARS_MIN || content.length > CHARS_MAX) return {};
    const { hashes, beginnings } = read(content);
    let seat: S | undefined;
    for (let i = beginnings.length - 1; i >= 0 && !seat; i--) {
      const at = beginnings[i] ?? 0;
      const growers = this.isCrowded(tenant, at) ? undefined : this.at(tenant, at, only);
      if (!growers) continue;
      const fresh = new Set(hashes.slice(i + 1, i + 1 + NEW_LINES));
      const fits = growers.filter(({ lines }) => lines.some((line) => fresh.has(line)));
      seat = (fits.findLast((grower) => grower.seat.taken === undefined) ?? fits.at(-1))?.seat;
    }
    const tail = new Set(hashes.slice(-TAIL_LINES));
    return { seat, opening: { beginnings: beginnings.slice(-TAIL_LINES).filter((at) => at !== 0), tail } };
  }

  remember(tenant: TenantId, { beginnings, tail }: Opening, { content, callIds }: CanonicalMessage, seat: S): void {
    if (callIds !== undefined || content.length > CHARS_MAX) return;
    const lines = content
      .split('\n')
      .filter((line) => line.length >= LINE_CHARS_MIN)
      .sort((a, b) => b.length - a.length)
      .map((line) => hashOf(line))
      .filter((line) => !tail.has(line))
      .slice(0, ANSWER_LINES);
    if (lines.length === 0) return;
    const { program, stamp, hash } = seat;
    for (const at of beginnings) this.sit(tenant, at, { program, stamp, hash, seat, lines });
  }
}

/** Hashes of a text's non-blank lines, and of the text up to each of them; 0 if that is too short to be evidence. */
function read(text: string): { hashes: number[]; beginnings: number[] } {
  const hashes: number[] = [];
  const beginnings: number[] = [];
  let so = 0;
  for (let from = 0; from <= text.length;) {
    const found = text.indexOf('\n', from);
    const end = found < 0 ? text.length : found;
    const line = end === from ? 0 : hashOf(text, from, end);
    from = end + 1;
    if (line === 0) continue;
    if (hashes.length === LINES_MAX) return { hashes: [], beginnings: [] };
    so = joined(so, line);
    hashes.push(line);
    beginnings.push(end < BEGINNING_CHARS_MIN ? 0 : so);
  }
  return { hashes, beginnings };
}

const MIX_LOW = 0x9e3779b1;
const MIX_HIGH = 0x5f356495;

/** The characters read last: of all of a text, or of a part of a longer one, for which `whole` is empty. Even in length. */
const units = new Uint16Array(CHARS_MAX);
const bytes = Buffer.from(units.buffer);
let whole = '';

/**
 * 53 bits of a part of a text. Takes two characters at a time, each in the low bits of one half, so that all bits of both
 * halves depend on it or its neighbour. No tenant reads another's entries, so a crafted collision harms only its author.
 */
export function hashOf(text: string, from = 0, to = text.length): number {
  let low = 0xdeadbeef ^ (to - from);
  let high = 0x41c6ce57;
  for (let at = from; at < to; at += CHARS_MAX) {
    const end = Math.min(to, at + CHARS_MAX);
    let i = readUnits(text, at, end);
    const last = i + end - at;
    for (; i + 1 < last; i += 2) {
      const a = units[i] as number;
      const b = units[i + 1] as number;
      low = Math.imul(low ^ (a | (b << 16)), MIX_LOW);
      high = Math.imul(high ^ (b | (a << 16)), MIX_HIGH);
    }
    if (i < last) {
      low = Math.imul(low ^ (units[i] as number), MIX_LOW);
      high = Math.imul(high ^ (units[i] as number), MIX_HIGH);
    }
  }
  return finished(low, high);
}

/** Where the part begins in `units`: an array is read three times as fast as a string by `charCodeAt`. */
function readUnits(text: string, from: number, to: number): number {
  const isWhole = text.length <= CHARS_MAX;
  if (isWhole && text === whole) return from;
  bytes.write(isWhole ? text : text.slice(from, to), 'utf16le');
  whole = isWhole ? text : '';
  return isWhole ? from : 0;
}

const joined = (before: number, next: number): number =>
  finished(Math.imul(before, MIX_LOW) ^ next, Math.imul(before / 2 ** 32, MIX_HIGH) ^ (next / 2 ** 32));

/** The last characters have changed only the high bits of each half. */
function finished(low: number, high: number): number {
  const mixed = low ^ Math.imul(high ^ (high >>> 15), 0x735a2d97);
  const top = high ^ Math.imul(mixed ^ (mixed >>> 15), 0x0b36534f);
  return (top & 0x1fffff) * 0x1_0000_0000 + (mixed >>> 0);
}
