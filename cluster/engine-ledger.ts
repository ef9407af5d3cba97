import type { EngineId, Tokens } from '../src/index.js';
import type { EngineClaim, EnginePart, GatewayId } from './messages.js';

/** One gateway's part of the engine: its last claim, and the calls that it may have in flight from now on. */
export interface Holding {
  claim: EngineClaim;
  slots: number;
}

/** What all gateways together have of an engine. */
interface Sums {
  readonly window: number;
  /** An equal share of the window. */
  readonly share: number;
  slots: number;
  inFlight: number;
  loadTokens: number;
  activeTokens: number;
  claimTokens: number;
  cachedTokens: number;
  waitingGateways: number;
  /** The two best levels of gateways' next calls; equal if two have the best. */
  firstLevel: number;
  secondLevel: number;
  /** The best level among the gateways with less than an equal share. */
  shortLevel: number;
}

const EMPTY = {
  slots: 0,
  inFlight: 0,
  loadTokens: 0,
  activeTokens: 0,
  claimTokens: 0,
  cachedTokens: 0,
  waitingGateways: 0,
  firstLevel: Infinity,
  secondLevel: Infinity,
  shortLevel: Infinity,
};

/**
 * One engine's window, divided among gateways. Each holds slots: a lease on so many calls in flight. The sum of all
 * slots exceeds the window only after the window has shrunk below them, or after a lease ended whose gateway lived on,
 * and only until enough calls have ended.
 *
 *     claim      a gateway reports its calls in flight, its waiting calls, and the slots that it keeps
 *     give       free slots go to waiting calls, best level first; those left over are spread evenly, for calls to come
 *     recall     gateways hear that better calls wait elsewhere, or as good ones of a gateway with less than an equal
 *                share, and keep fewer slots with their next claim
 *
 * Slots grow only here and shrink only by their holder's own claim, so that no two gateways use the same one.
 */
export class EngineLedger {
  readonly #holdings: Map<GatewayId, Holding>;

  /** @param holdings as another process has divided the engine, in order of joining */
  constructor(
    readonly engine: EngineId,
    holdings: ReadonlyMap<GatewayId, Holding> = new Map(),
  ) {
    this.#holdings = new Map(holdings);
  }

  get isEmpty(): boolean {
    return this.#holdings.size === 0;
  }

  /** The gateway's claim replaces its last one. */
  claim(gateway: GatewayId, claim: EngineClaim): void {
    const held = Math.min(claim.keeps, this.#holdings.get(gateway)?.slots ?? 0);
    this.#holdings.set(gateway, { claim, slots: Math.max(claim.inFlight, held) });
    this.#give();
  }

  /** The gateway is gone: its slots are free. */
  leave(gateway: GatewayId): void {
    if (this.#holdings.delete(gateway)) this.#give();
  }

  /** Each gateway's part. */
  parts(): Map<GatewayId, EnginePart> {
    const sums = this.#sums();
    return new Map([...this.#holdings].map(([gateway, holding]) => [gateway, this.#partOf(holding, sums)]));
  }

  /** The gateway's part; undefined: it holds none. */
  partOf(gateway: GatewayId): EnginePart | undefined {
    const holding = this.#holdings.get(gateway);
    return holding && this.#partOf(holding, this.#sums());
  }

  #sums(): Sums {
    const window = this.#window;
    const sums = { ...EMPTY, window, share: Math.floor(window / this.#holdings.size) };
    for (const holding of this.#holdings.values()) {
      const { claim, slots } = holding;
      sums.inFlight += claim.inFlight;
      sums.loadTokens += claim.loadTokens;
      sums.activeTokens += claim.activeTokens;
      sums.claimTokens += claim.claimTokens;
      sums.cachedTokens += claim.cachedTokens;
      sums.waitingGateways += waits(claim);
      sums.slots += slots;
      const level = nextLevel(holding);
      sums.secondLevel = Math.min(sums.secondLevel, Math.max(sums.firstLevel, level));
      sums.firstLevel = Math.min(sums.firstLevel, level);
      if (slots < sums.share) sums.shortLevel = Math.min(sums.shortLevel, level);
    }
    return sums;
  }

  #partOf(own: Holding, sums: Sums): EnginePart {
    const { claim, slots } = own;
    const { window, share, firstLevel, secondLevel } = sums;
    const ownLevel = nextLevel(own);
    const waitingLevel = ownLevel === firstLevel ? secondLevel : firstLevel;
    // More are held than the window has, or another gateway has fewer, and a call as good that waits. Then a gateway
    // starts no call above an equal share: busy ones would otherwise hold their slots for ever.
    const isBounded = sums.slots > window || (sums.shortLevel < Infinity && sums.shortLevel <= ownLevel);
    return {
      engine: this.engine,
      ...(window < Infinity && { slots: isBounded ? Math.min(slots, share) : slots }),
      inFlight: sums.inFlight - claim.inFlight,
      loadTokens: (sums.loadTokens - claim.loadTokens) as Tokens,
      activeTokens: (sums.activeTokens - claim.activeTokens) as Tokens,
      claimTokens: (sums.claimTokens - claim.claimTokens) as Tokens,
      cachedTokens: (sums.cachedTokens - claim.cachedTokens) as Tokens,
      waitingGateways: sums.waitingGateways - waits(claim),
      ...(waitingLevel < Infinity && { waitingLevel }),
    };
  }

  /** The smallest window that a gateway reports; Infinity: none limits the calls in flight, so there are no slots to divide. */
  get #window(): number {
    return Math.min(...[...this.#holdings.values()].map(({ claim }) => claim.window));
  }

  #give(): void {
    giveSlots([...this.#holdings.values()], this.#window);
  }
}

/** Gives slots that nobody holds. @param window Infinity: there are none to divide */
export function giveSlots(holdings: readonly Holding[], window: number): void {
  if (window === Infinity) return;
  let free = holdings.reduce((left, { slots }) => left - slots, window);
  for (; free > 0; free -= 1) {
    const neediest = holdings.reduce(needier);
    if (nextLevel(neediest) === Infinity) break;
    neediest.slots += 1;
  }
  for (; free > 0; free -= 1) holdings.reduce((a, b) => (unused(b) < unused(a) ? b : a)).slots += 1;
}

const waits = ({ waiting }: EngineClaim): number => (waiting.some((calls) => calls > 0) ? 1 : 0);

const unused = ({ claim, slots }: Holding): number => slots - claim.inFlight;

/** Level of the first waiting call without a slot; Infinity: there is none. */
function nextLevel(holding: Holding): number {
  let served = unused(holding);
  for (const [level, calls = 0] of holding.claim.waiting.entries()) {
    if (calls > served) return level;
    served -= calls;
  }
  return Infinity;
}

/** The one whose next call has the better level; of equal levels, the one that holds fewer slots. */
function needier(a: Holding, b: Holding): Holding {
  const difference = nextLevel(b) - nextLevel(a);
  return difference < 0 || (difference === 0 && b.slots < a.slots) ? b : a;
}
