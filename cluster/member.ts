import type { EngineDemand, EngineId, EngineShared, Tokens } from '../src/index.js';
import type { EngineClaim, EnginePart } from './messages.js';

/**
 * A gateway's side of the shared engines: what it claims of each, and which part it was given.
 *
 * One claim is under way at a time, and it covers all changes since the last, so that a slow store gets fewer of them.
 */
export class Member {
  readonly #parts = new Map<EngineId, EnginePart>();
  readonly #claimed = new Map<EngineId, EngineClaim>();
  #isUnderWay = false;

  /** @param demands what the gateway has and wants now */
  constructor(private readonly demands: () => readonly EngineDemand[]) {}

  /** An engine that others may use as well: until the store gives it slots, the gateway has none. */
  joined(engine: EngineId): EngineShared[] {
    const nothing = { engine, slots: 0, inFlight: 0, loadTokens: 0 as Tokens, activeTokens: 0 as Tokens, claimTokens: 0 as Tokens, cachedTokens: 0 as Tokens, waitingGateways: 0 };
    return this.#parts.has(engine) ? [] : this.received([nothing]);
  }

  /** The claims that differ from the last ones. Empty while others are under way: `settled` must follow them. */
  claims(): EngineClaim[] {
    if (this.#isUnderWay) return [];
    const changed = this.demands()
      .map((demand) => ({ ...demand, keeps: keptSlots(demand, this.#parts.get(demand.engine)) }))
      .filter((claim) => !isEqual(claim, this.#claimed.get(claim.engine)));
    for (const claim of changed) this.#claimed.set(claim.engine, claim);
    this.#isUnderWay = changed.length > 0;
    return changed;
  }

  /** The claims have arrived, or never will. */
  settled(): void {
    this.#isUnderWay = false;
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
  const ahead = waiting.slice(0, part.waitingLevel + 1).reduce((sum, calls = 0) => sum + calls, 0);
  return Math.min(part.slots, inFlight + ahead);
}

/** Equality of flat records whose lists hold numbers. */
function isEqual<T extends object>(a: T, b: T | undefined): boolean {
  return b !== undefined && JSON.stringify(a) === JSON.stringify(b);
}
