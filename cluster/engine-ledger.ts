import { NO_STEPS, type EngineId } from '../src/index.js';
import type { EngineClaim, EnginePart, GatewayId } from './messages.js';

/** One gateway's part of the engine: its last claim, and the calls that it may have in flight from now on. */
export interface Holding {
  claim: EngineClaim;
  slots: number;
}

const SUMMED = ['inFlight', 'loadTokens', 'weight', 'ended', 'activeTokens', 'claimTokens', 'cachedTokens'] as const;
type Summed = (typeof SUMMED)[number];

export const eachSummed = (of: (name: Summed) => number) =>
  Object.fromEntries(SUMMED.map((name) => [name, of(name)])) as Pick<EnginePart, Summed>;

const EMPTY = {
  ...(Object.fromEntries(SUMMED.map((name) => [name, 0])) as Record<Summed, number>),
  slots: 0,
  steps: NO_STEPS,
  waitingGateways: 0,
  /** The two best levels of gateways' next calls; equal if two have the best. */
  firstLevel: Infinity,
  secondLevel: Infinity,
  /** The best level among the gateways with less than an equal share, and the number of those with a call of it. */
  shortLevel: Infinity,
  shortGateways: 0,
};

/** The window, and an equal share of it, which may be a fraction. */
type Sums = typeof EMPTY & { readonly window: number; readonly share: number };

/**
 * One engine's window as the store has divided it among gateways (`redis/scripts.ts`). Each holds slots: a lease on so
 * many calls in flight. The sum of all slots exceeds the window only after the window has shrunk below them, or after a
 * lease ended whose gateway lived on, and only until enough calls have ended.
 *
 *     claim      a gateway reports its calls in flight, its waiting calls, and the slots that it keeps
 *     give       free slots go to waiting calls, best level first; of equal levels to the gateway with fewer slots, then
 *                to the one that was given none for longest. Those left over are spread evenly, for calls to come
 *     recall     gateways hear that better calls wait elsewhere, or as good ones of a gateway with less than an equal
 *                share, and keep fewer slots with their next claim
 *     turns      where the window is no multiple of the gateways, a share is not a whole number of slots. As many as
 *                wait for the slot above it are taken from those who were given it first, once they have used it
 *
 * Slots grow only in the store and shrink only by their holder's own claim, so that no two gateways use the same one.
 */
export class EngineLedger {
  /** @param holdings in order of the last slot that was given to a waiting call, or of joining */
  constructor(
    readonly engine: EngineId,
    protected readonly holdings: ReadonlyMap<GatewayId, Holding>,
  ) {}

  parts(): Map<GatewayId, EnginePart> {
    const sums = this.#sums();
    let turn = 0;
    const part = (holding: Holding) => this.#partOf(holding, sums, holding.slots > sums.share ? turn++ : turn);
    return new Map([...this.holdings].map(([gateway, holding]) => [gateway, part(holding)]));
  }

  partOf(gateway: GatewayId): EnginePart | undefined {
    return this.parts().get(gateway);
  }

  #sums(): Sums {
    const window = this.window;
    const sums = { ...EMPTY, window, share: window / this.holdings.size };
    for (const holding of this.holdings.values()) {
      const { claim, slots } = holding;
      for (const count of SUMMED) sums[count] += claim[count];
      sums.steps = sums.steps.map((sum, i) => sum + (claim.steps[i] ?? 0));
      sums.waitingGateways += waits(claim);
      sums.slots += slots;
      const level = nextLevel(holding);
      sums.secondLevel = Math.min(sums.secondLevel, Math.max(sums.firstLevel, level));
      sums.firstLevel = Math.min(sums.firstLevel, level);
      if (slots >= sums.share || level > sums.shortLevel) continue;
      sums.shortGateways = level < sums.shortLevel ? 1 : sums.shortGateways + 1;
      sums.shortLevel = level;
    }
    return sums;
  }

  /** @param turn number of gateways before it with more than an equal share */
  #partOf(own: Holding, sums: Sums, turn: number): EnginePart {
    const { claim, slots } = own;
    const { window, firstLevel, secondLevel } = sums;
    const waitingLevel = nextLevel(own) === firstLevel ? secondLevel : firstLevel;
    return {
      engine: this.engine,
      ...(window < Infinity && { slots: Math.min(slots, mostSlots(own, sums, turn)) }),
      // Some are sums of fractions: the difference may be just below zero.
      ...eachSummed((name) => Math.max(0, sums[name] - claim[name])),
      steps: sums.steps.map((sum, i) => Math.max(0, sum - (claim.steps[i] ?? 0))),
      waitingGateways: sums.waitingGateways - waits(claim),
      ...(waitingLevel < Infinity && { waitingLevel }),
    };
  }

  /** The smallest window that a gateway reports; Infinity: none limits the calls in flight, so there are no slots to divide. */
  protected get window(): number {
    return Math.min(...[...this.holdings.values()].map(({ claim }) => claim.window));
  }
}

/**
 * Most slots that a gateway hears of. Above an equal share it starts none while more are held than the window has, or
 * while another gateway has less and a call as good that waits: busy gateways would else hold their slots for ever.
 */
function mostSlots(own: Holding, { window, share, slots, shortLevel, shortGateways }: Sums, turn: number): number {
  const least = Math.floor(share);
  if (slots > window) return least;
  if (shortLevel === Infinity || shortLevel > nextLevel(own)) return Infinity;
  return turn < shortGateways && own.claim.inFlight > least ? least : Math.ceil(share);
}

const waits = ({ waiting }: EngineClaim): number => (waiting.some((calls) => calls > 0) ? 1 : 0);

export const unusedSlots = ({ claim, slots }: Holding): number => slots - claim.inFlight;

/** Level of the first waiting call without a slot; Infinity: there is none. */
export function nextLevel(holding: Holding): number {
  let served = unusedSlots(holding);
  for (const [level, calls = 0] of holding.claim.waiting.entries()) {
    if (calls > served) return level;
    served -= calls;
  }
  return Infinity;
}
