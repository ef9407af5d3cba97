import { NO_STEPS, type EngineId } from '../../src/index.js';
import { eachSummed, type EngineLedger } from '../engine-ledger.js';
import type { EngineClaim, EnginePart, GatewayId } from '../messages.js';

/** A state of an engine's ledger. Of two, that of the later ledger is newer, or that with the higher revision. */
export interface LedgerState {
  readonly ledger: EngineLedger;
  /** The server's time at which this ledger began, ms. */
  readonly since: number;
  readonly rev: number;
}

/** A gateway's shares of engines: its last claims, and its parts by the store's ledgers, or alone. */
export class Shares {
  readonly #claims = new Map<EngineId, EngineClaim>();
  /** Engines that the gateway uses no more, until the store knows. */
  readonly #released = new Set<EngineId>();
  readonly #seen = new Map<EngineId, Omit<LedgerState, 'ledger'>>();

  constructor(private readonly gateway: GatewayId) {}

  get claims(): EngineClaim[] {
    return [...this.#claims.values()];
  }

  get released(): EngineId[] {
    return [...this.#released];
  }

  claim(claims: readonly EngineClaim[]): void {
    for (const claim of claims) {
      this.#claims.set(claim.engine, claim);
      this.#released.delete(claim.engine);
    }
  }

  release(engine: EngineId): void {
    if (this.#claims.delete(engine)) this.#released.add(engine);
    this.#seen.delete(engine);
  }

  releasedFor(engines: readonly EngineId[]): void {
    for (const engine of engines) this.#released.delete(engine);
  }

  /** The gateway's parts by these ledgers. An answer and a message may pass each other, so older states say nothing. */
  read(states: readonly LedgerState[]): EnginePart[] {
    return states.flatMap(({ ledger, since, rev }) => {
      const seen = this.#seen.get(ledger.engine);
      if (seen && (since < seen.since || (since === seen.since && rev <= seen.rev))) return [];
      const part = this.#claims.has(ledger.engine) ? ledger.partOf(this.gateway) : undefined;
      if (part === undefined) return [];
      this.#seen.set(ledger.engine, { since, rev });
      return part;
    });
  }

  forgetStates(): void {
    this.#seen.clear();
  }
}

/** The part of a gateway without contact: as if each of the others had as much as it has itself. */
export function partAlone(claim: EngineClaim, live: number): EnginePart {
  return {
    engine: claim.engine,
    ...(claim.window < Infinity && { slots: Math.ceil(claim.window / live) }),
    ...eachSummed((name) => (live - 1) * claim[name]),
    steps: NO_STEPS,
    ended: 0,
    waitingGateways: 0,
  };
}
