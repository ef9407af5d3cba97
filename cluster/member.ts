import type { EngineDemand, EngineId, EngineShared } from '../src/index.js';
import type { EngineClaim, EnginePart } from './messages.js';

/** A gateway's report about its engines. */
export interface Changes {
  readonly claims: readonly EngineClaim[];
  /** Engines that it uses no more. */
  readonly released: readonly EngineId[];
}

const NONE: Changes = { claims: [], released: [] };

/**
 * A gateway's side of the shared engines: its claim on each, and the part that it was given.
 *
 * One claim is under way at a time, and it covers all changes since the last, so that a slow store gets fewer of them.
 */
export class Member {
  readonly #parts = new Map<EngineId, EnginePart>();
  readonly #claimed = new Map<EngineId, EngineClaim>();
  #isUnderWay = false;

  /** @param demands the gateway's present calls and needs */
  constructor(private readonly demands: () => readonly EngineDemand[]) {}

  /** Number of engines in use. */
  get engines(): number {
    return this.#claimed.size;
  }

  /** The engine is new to the scheduler, perhaps again: it has no part yet. */
  joined(engine: EngineId): void {
    this.#claimed.delete(engine);
    this.#parts.delete(engine);
  }

  /** Changes since the last claims. None while others are under way: `settled` must follow claims. */
  changes(): Changes {
    if (this.#isUnderWay) return NONE;
    const demands = this.demands();
    const claims = demands
      .map((demand) => ({ ...demand, keeps: keptSlots(demand, this.#parts.get(demand.engine)) }))
      .filter((claim) => !isEqual(claim, this.#claimed.get(claim.engine)));
    for (const claim of claims) this.#claimed.set(claim.engine, claim);
    this.#isUnderWay = claims.length > 0;
    return { claims, released: this.#claimed.size > demands.length ? this.#release(demands) : [] };
  }

  #release(demands: readonly EngineDemand[]): EngineId[] {
    const used = new Set(demands.map(({ engine }) => engine));
    const released = [...this.#claimed.keys()].filter((engine) => !used.has(engine));
    for (const engine of released) this.joined(engine);
    return released;
  }

  /** The claims have arrived. @param lost those that may not have: they are made again */
  settled(lost: readonly EngineClaim[] = []): void {
    this.#isUnderWay = false;
    for (const { engine } of lost) this.#claimed.delete(engine);
  }

  /** The gateway's parts as the store has them now. Returns those that its scheduler must hear of. */
  received(parts: readonly EnginePart[]): EngineShared[] {
    const changed = parts.filter((part) => !isEqual(part, this.#parts.get(part.engine)));
    for (const part of changed) this.#parts.set(part.engine, part);
    return changed.map((part) => ({ type: 'engineShared', ...part }));
  }
}

/** Slots that the gateway needs itself. While calls wait elsewhere, it keeps none for worse ones, or for none. */
function keptSlots({ inFlight, waiting }: EngineDemand, part: EnginePart | undefined): number {
  if (part?.slots === undefined) return inFlight;
  if (part.waitingLevel === undefined) return part.slots;
  let ahead = 0;
  for (const calls of waiting.slice(0, part.waitingLevel + 1)) ahead += calls;
  return Math.min(part.slots, inFlight + ahead);
}

/** Equality of flat records whose lists hold numbers. */
function isEqual<T extends object>(a: T, b: T | undefined): boolean {
  return b !== undefined && JSON.stringify(a) === JSON.stringify(b);
}
