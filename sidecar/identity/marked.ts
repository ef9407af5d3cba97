import type { ProgramId, TenantId } from '../../src/index.js';
import type { CanonicalMessage } from '../apis/api.js';
import type { Ends } from './ends.js';
import { beginsWith, headOf, headsOf, idOf, printedIds, standsAlone, wholeOf } from './marks.js';
import { Seats } from './seats.js';
import type { Answered } from './seats.js';
import { digest } from './trail.js';

const SEATS_MAX = 64;

/** The call that contains a marked answer. */
export interface MarkedCall {
  /** Collects the unknown marks. */
  readonly foreign: Set<string | number>;
  /** Hash of the message before the answer. */
  readonly last: () => string;
}

/**
 * Finds answers by their marks. An answer names its program if only one program received it, or only one to such a
 * message. At most `max` seats by whole answers, and as many by ids and beginnings.
 */
export class Marked {
  readonly #ends: Ends;
  readonly #wholes: Seats;
  readonly #others: Seats;

  constructor(max: number, ends: Ends) {
    this.#ends = ends;
    this.#wholes = new Seats(max, SEATS_MAX, ends);
    this.#others = new Seats(max, SEATS_MAX, ends);
  }

  /** @param foreign marks of messages in the call: an answer that repeats one is no evidence of its program */
  remember(tenant: TenantId, answer: CanonicalMessage, seat: Answered, foreign: ReadonlySet<string | number>): void {
    const [whole, other] = [wholeOf(answer), idOf(answer) ?? headOf(answer)];
    if (whole !== undefined && !foreign.has(whole)) this.#wholes.sit(tenant, whole, seat);
    if (other !== undefined && !foreign.has(other)) this.#others.sit(tenant, other, seat);
  }

  find(tenant: TenantId, said: CanonicalMessage, only?: ProgramId, call?: MarkedCall): Answered | undefined {
    const id = idOf(said);
    const own =
      id === undefined ? undefined : this.#byId(tenant, id, only, call)?.filter((seat) => beginsWith(said, seat));
    return (
      (own && oneOf(own)) ??
      this.#byWhole(tenant, said, only, call) ??
      this.#byHead(tenant, said, only, call) ??
      (said.callIds === undefined ? this.printed(tenant, said, only) : undefined)
    );
  }

  /** The program of the latest known id that is printed in a text. */
  printed(tenant: TenantId, { content }: CanonicalMessage, only?: ProgramId): Answered | undefined {
    for (const id of printedIds(content)) {
      const seat = oneOf(this.#byId(tenant, id, only) ?? []);
      if (seat) return seat;
    }
    return undefined;
  }

  #byId(tenant: TenantId, id: string, only?: ProgramId, call?: MarkedCall): Answered[] | undefined {
    return this.#others.isCrowded(tenant, id) ? undefined : this.#at(this.#others, tenant, id, only, call);
  }

  #byWhole(tenant: TenantId, said: CanonicalMessage, only?: ProgramId, call?: MarkedCall): Answered | undefined {
    const whole = wholeOf(said);
    if (whole === undefined || this.#wholes.isCrowded(tenant, whole)) return undefined;
    const loose = this.#at(this.#wholes, tenant, whole, only, call);
    if (loose.length === 0) return undefined;
    const isOne = oneOf(loose) !== undefined;
    const exact = isOne ? loose : loose.filter(({ hash }) => hash === digest(said.content));
    const told = exact.length > 0 ? exact : loose;
    return oneOf(told.filter(standsAlone)) ?? (call && oneOf(told.filter(({ last }) => last === call.last())));
  }

  /** The longest answer that the message begins with. */
  #byHead(tenant: TenantId, said: CanonicalMessage, only?: ProgramId, call?: MarkedCall): Answered | undefined {
    for (const head of headsOf(said)) {
      const begun = this.#at(this.#others, tenant, head, only, call).filter((seat) => beginsWith(said, seat));
      const chars = Math.max(...begun.map((seat) => seat.chars));
      if (chars >= said.content.length) continue;
      const seat = this.#byWhole(tenant, { ...said, content: said.content.slice(0, chars) }, only, call);
      if (seat) return seat;
    }
    return undefined;
  }

  #at(seats: Seats, tenant: TenantId, mark: string | number, only?: ProgramId, call?: MarkedCall): Answered[] {
    const known = seats.at(tenant, mark);
    if (!known) call?.foreign.add(mark);
    return (known ?? []).filter(
      (seat) => !seat.guessed && (only === undefined || seat.program === only) && this.#ends.isAlive(seat),
    );
  }
}

/** The latest seat, if all belong to one program. */
export function oneOf(seats: readonly Answered[]): Answered | undefined {
  const program = seats[0]?.program;
  return seats.every((seat) => seat.program === program) ? seats.at(-1) : undefined;
}
