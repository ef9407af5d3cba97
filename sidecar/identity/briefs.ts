import type { ProgramId, TenantId } from '../../src/index.js';
import type { CanonicalMessage } from '../apis/api.js';
import type { Ends } from './memory.js';
import { hashOf } from './growing.js';
import { linesIn, type Line } from './texts.js';
import { inAll, wholeOf } from './marked.js';
import { Seats, type Answered } from './seats.js';
import type { Trail } from './trail.js';

const SEATS_MAX = 8;
/** Answers of a conversation that must all be known. */
const ANSWERS_MAX = 4;
/** Lines at the beginning and at the end of a question among which a client may put documents. */
const LINES_MAX = 3;

/**
 * Finds conversations of short answers, which have no marks, if documents in the last question or a clock in the system
 * prompt change their place: by the answers, each after a line of its question. At most `max` seats.
 */
export class Briefs extends Seats {
  constructor(max: number, ends: Ends) {
    super(max, SEATS_MAX, ends);
  }

  /** @param question its first and last lines, see `endsOf` */
  remember(tenant: TenantId, question: readonly number[], answer: CanonicalMessage, seat: Answered): void {
    if (wholeOf(answer) !== undefined) return;
    for (const key of keysOf(question, answer)) this.sit(tenant, key, seat);
  }

  /** The one program that gave all the last answers, or that waits to go on from the only one. */
  find(tenant: TenantId, trail: Trail, only: ProgramId | undefined): Answered | undefined {
    const seats: Answered[] = [];
    let answers = 0;
    for (let i = trail.turns.length - 1; i > 0 && answers < ANSWERS_MAX; i -= 1) {
      if (trail.turns[i]?.role !== 'assistant') continue;
      const at = this.#known(tenant, trail, i);
      if (at.length === 0) return undefined;
      seats.unshift(...at);
      answers += 1;
    }
    const found = inAll(seats);
    if (!found || (only ?? found.program) !== found.program) return undefined;
    return answers > 1 || found.taken === undefined ? found : undefined;
  }

  #known(tenant: TenantId, trail: Trail, index: number): Answered[] {
    const answer = trail.said(index);
    if (wholeOf(answer) !== undefined) return [];
    const keys = keysOf(endsOf(linesIn(trail.said(index - 1).content)), answer);
    if (keys.some((key) => this.isCrowded(tenant, key))) return [];
    return keys.flatMap((key) => this.at(tenant, key) ?? []);
  }
}

/** Hashes of the first and the last lines of a question. */
export const endsOf = (lines: readonly Line[]): number[] => {
  const ends = [...lines.slice(0, LINES_MAX), ...lines.slice(-LINES_MAX)];
  return [...new Set(ends.map(({ hash }) => hash))];
};

const keysOf = (question: readonly number[], { content }: CanonicalMessage): number[] =>
  question.map((hash) => hashOf(`${hash} ${content}`));
