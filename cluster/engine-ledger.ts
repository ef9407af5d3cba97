import type { EngineId, Tokens } from '../src/index.js';
import type { EngineClaim, EnginePart, GatewayId } from './messages.js';

/** One gateway's part of the engine: its last claim, and the calls that it may have in flight from now on. */
export interface Holding {
  claim: EngineClaim;
  slots: number;
}

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
    return new Map([...this.#holdings].map(([gateway, holding]) => [gateway, this.#partOf(holding)]));
  }

  /** The gateway's part; undefined: it holds none. */
  partOf(gateway: GatewayId): EnginePart | undefined {
    const holding = this.#holdings.get(gateway);
    return holding && this.#partOf(holding);
  }

  #partOf(own: Holding): EnginePart {
    let [inFlight, loadTokens, activeTokens, claimTokens, cachedTokens, waitingLevel] = [0, 0, 0, 0, 0, Infinity];
    let waitingGateways = 0;
    for (const holding of this.#holdings.values()) {
      const { claim } = holding;
      if (holding !== own) {
        inFlight += claim.inFlight;
        loadTokens += claim.loadTokens;
        activeTokens += claim.activeTokens;
        claimTokens += claim.claimTokens;
        cachedTokens += claim.cachedTokens;
        waitingLevel = Math.min(waitingLevel, nextLevel(holding));
        if (claim.waiting.some((calls) => calls > 0)) waitingGateways += 1;
      }
    }
    return {
      engine: this.engine,
      ...(this.#window < Infinity && { slots: Math.min(own.slots, this.#mostSlots(own)) }),
      inFlight,
      loadTokens: loadTokens as Tokens,
      activeTokens: activeTokens as Tokens,
      claimTokens: claimTokens as Tokens,
      cachedTokens: cachedTokens as Tokens,
      waitingGateways,
      ...(waitingLevel < Infinity && { waitingLevel }),
    };
  }

  /** The smallest window that a gateway reports; Infinity: none limits the calls in flight, so there are no slots to divide. */
  get #window(): number {
    return Math.min(...[...this.#holdings.values()].map(({ claim }) => claim.window));
  }

  /**
   * Most slots that the gateway hears of: an equal share, while more are held than the window has, or another gateway
   * has fewer and a call as good that waits. It starts no call above that until enough have ended. Busy gateways would
   * otherwise hold their slots for ever.
   */
  #mostSlots(own: Holding): number {
    const share = Math.floor(this.#window / this.#holdings.size);
    const level = Math.min(nextLevel(own), Number.MAX_VALUE);
    let held = 0;
    let isWanted = false;
    for (const holding of this.#holdings.values()) {
      held += holding.slots;
      isWanted ||= holding.slots < share && nextLevel(holding) <= level;
    }
    return held > this.#window || isWanted ? share : Infinity;
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
