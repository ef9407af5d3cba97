import { isDeepStrictEqual } from 'node:util';
import type { EngineDemand, EngineId, EngineShared } from '../src/index.js';
import type { EngineClaim, EnginePart } from './messages.js';

export interface Changes {
  readonly claims: readonly EngineClaim[];
  /** Engines that it uses no more. */
  readonly released: readonly EngineId[];
  /** Slots that the claims give back: the scheduler must hear of it before the store does. */
  readonly returned: readonly EngineShared[];
}

const NONE: Changes = { claims: [], released: [], returned: [] };

/**
 * A gateway's side of the shared engines: its claim on each, and the part that it was given.
 *
 * One claim is under way at a time, and it covers all changes since the last, so that a slow store gets fewer of them.
 * Slots that a claim gives back are used no more from then on. News that arrive before its answer may be older.
 */
export class Member {
  readonly #parts = new Map<EngineId, EnginePart>();
  readonly #claimed = new Map<EngineId, EngineClaim>();
  /** Most slots by claims without an answer. */
  readonly #kept = new Map<EngineId, number>();
  /** Engines for which other gateways have waiting calls. */
  readonly #wanted = new Set<EngineId>();
  #underWay: readonly EngineClaim[] = [];

  constructor(private readonly demands: () => readonly EngineDemand[]) {}

  get engines(): number {
    return this.#claimed.size;
  }

  get isWanted(): boolean {
    return this.#wanted.size > 0;
  }

  /** The engine is new to the scheduler, perhaps again: it has no part yet. */
  joined(engine: EngineId): void {
    this.#claimed.delete(engine);
    this.#parts.delete(engine);
    this.#kept.delete(engine);
    this.#wanted.delete(engine);
  }

  /** Changes since the last claims. None while others are under way: `settled` must follow claims. */
  changes(): Changes {
    if (this.#underWay.length > 0) return NONE;
    const demands = this.demands();
    const claims = demands.flatMap((demand) => {
      const part = this.#parts.get(demand.engine);
      const claim = { ...demand, keeps: keptSlots(demand, part) };
      // The store may have given more slots since the last claim, however that reads.
      const isNew = claim.keeps < (part?.slots ?? 0) || !isDeepStrictEqual(claim, this.#claimed.get(claim.engine));
      return isNew ? [claim] : [];
    });
    for (const claim of claims) {
      this.#claimed.set(claim.engine, claim);
      this.#kept.set(claim.engine, Math.max(claim.inFlight, claim.keeps));
    }
    this.#underWay = claims;
    const returned = this.received(claims.flatMap(({ engine }) => this.#parts.get(engine) ?? []));
    return { claims, released: this.#claimed.size > demands.length ? this.#release(demands) : [], returned };
  }

  #release(demands: readonly EngineDemand[]): EngineId[] {
    const used = new Set(demands.map(({ engine }) => engine));
    const released = [...this.#claimed.keys()].filter((engine) => !used.has(engine));
    for (const engine of released) this.joined(engine);
    return released;
  }

  /** The claims under way are over. Those that the store has not answered are made again: it may have heard them. */
  settled(answered: ReadonlySet<EngineId>): void {
    for (const { engine } of this.#underWay) (answered.has(engine) ? this.#kept : this.#claimed).delete(engine);
    this.#underWay = [];
  }

  /** The gateway's parts as the store has them now. Returns those that its scheduler must hear of. */
  received(parts: readonly EnginePart[]): EngineShared[] {
    const changed = parts
      .map((part) => withAtMost(part, this.#kept.get(part.engine)))
      .filter((part) => !isDeepStrictEqual(part, this.#parts.get(part.engine)));
    for (const part of changed) {
      this.#parts.set(part.engine, part);
      if (part.waitingGateways > 0) this.#wanted.add(part.engine);
      else this.#wanted.delete(part.engine);
    }
    return changed.map((part) => ({ type: 'engineShared', ...part }));
  }
}

const withAtMost = (part: EnginePart, kept = Infinity): EnginePart =>
  part.slots === undefined || part.slots <= kept ? part : { ...part, slots: kept };

/** Slots that the gateway needs itself. While calls wait elsewhere, it keeps none for worse ones, or for none. */
function keptSlots({ inFlight, waiting }: EngineDemand, part: EnginePart | undefined): number {
  if (part?.slots === undefined) return inFlight;
  if (part.waitingLevel === undefined) return part.slots;
  let ahead = 0;
  for (const calls of waiting.slice(0, part.waitingLevel + 1)) ahead += calls;
  return Math.min(part.slots, inFlight + ahead);
}
