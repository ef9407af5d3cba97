import type { ProgramId, TenantId } from '../../src/index.js';
import type { CanonicalMessage } from '../apis/api.js';
import type { Ends } from './ends.js';
import { hashOf } from './growing.js';
import { oneOf } from './marked.js';
import { wholeOf } from './marks.js';
import { Seats } from './seats.js';
import type { Answered } from './seats.js';
import type { Trail } from './trail.js';

const SEATS_MAX = 8;
/** Answers of a conversation that must all be known. */
const ANSWERS_MAX = 4;
/** Lines at the beginning and at the end of a question among which a client may put documents, and their parts read. */
const LINES = 3;
const READ_CHARS = 4096;
const LINE_CHARS_MIN = 16;

/**
 * Finds conversations of short answers, which have no marks, if documents in the last question or a clock in the system
 * prompt change their place: by the answers, each after a line of its question. At most `max` seats.
 */
export class Briefs {
  readonly #seats: Seats;

  constructor(
    max: number,
    private readonly ends: Ends,
  ) {
    this.#seats = new Seats(max, SEATS_MAX, ends);
  }

  /** @param asked hashes of the lines of the question, see `askedIn` */
  remember(tenant: TenantId, asked: readonly number[], answer: CanonicalMessage, seat: Answered): void {
    if (wholeOf(answer) !== undefined) return;
    for (const line of asked) this.#seats.sit(tenant, keyOf(line, answer), seat);
  }

  /** The one program that gave all the last answers, or that waits to go on from the only one. */
  find(tenant: TenantId, trail: Trail, only: ProgramId | undefined): Answered | undefined {
    const answers = [...trail.turns.keys()].filter((i) => trail.turns[i]?.role === 'assistant').slice(-ANSWERS_MAX);
    const seats = answers.map((i) => this.#at(tenant, trail, i));
    const found = oneOf(seats.flat());
    if (!found || seats.some((at) => at.length === 0) || (only ?? found.program) !== found.program) return undefined;
    return answers.length > 1 || found.taken === undefined ? found : undefined;
  }

  #at(tenant: TenantId, trail: Trail, index: number): Answered[] {
    const answer = trail.said(index);
    if (index === 0 || wholeOf(answer) !== undefined) return [];
    const keys = askedIn(trail.said(index - 1)).map((line) => keyOf(line, answer));
    if (keys.some((key) => this.#seats.isCrowded(tenant, key))) return [];
    return keys.flatMap((key) => (this.#seats.at(tenant, key) ?? []).filter((seat) => this.ends.isAlive(seat)));
  }
}

const keyOf = (line: number, { content }: CanonicalMessage): number => hashOf(`${line} ${content}`);

/** Hashes of a message's first and last lines. */
export function askedIn({ content }: CanonicalMessage): number[] {
  const linesOf = (text: string) => text.split('\n').filter((line) => line.length >= LINE_CHARS_MIN);
  const lines = [
    ...linesOf(content.slice(0, READ_CHARS)).slice(0, LINES),
    ...linesOf(content.slice(-READ_CHARS)).slice(-LINES),
  ];
  return [...new Set(lines)].map(hashOf);
}
