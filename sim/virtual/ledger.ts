import {
  EngineLedger,
  nextLevel,
  unusedSlots,
  type EngineClaim,
  type GatewayId,
  type Holding,
} from '../../cluster/index.js';
import type { EngineId } from '../../src/index.js';

/** A ledger of a store in this process, which divides the window as the gateways' server does. */
export class DividedLedger extends EngineLedger {
  readonly #holdings: Map<GatewayId, Holding>;

  constructor(engine: EngineId) {
    const holdings = new Map<GatewayId, Holding>();
    super(engine, holdings);
    this.#holdings = holdings;
  }

  get isEmpty(): boolean {
    return this.#holdings.size === 0;
  }

  /** The gateway's claim replaces its last one. */
  claim(gateway: GatewayId, claim: EngineClaim): void {
    const held = Math.min(claim.keeps, this.#holdings.get(gateway)?.slots ?? 0);
    this.#holdings.set(gateway, { claim, slots: Math.max(claim.inFlight, held) });
    giveSlots(this.#holdings, this.window);
  }

  /** The gateway is gone: its slots are free. */
  leave(gateway: GatewayId): void {
    if (this.#holdings.delete(gateway)) giveSlots(this.#holdings, this.window);
  }
}

/** Gives slots that nobody holds. A gateway that gets one for a waiting call is the last in order. @param window Infinity: there are none to divide */
export function giveSlots(holdings: Map<GatewayId, Holding>, window: number): void {
  if (window === Infinity) return;
  let free = [...holdings.values()].reduce((left, { slots }) => left - slots, window);
  for (; free > 0; free -= 1) {
    const [gateway, neediest] = [...holdings].reduce((a, b) => (isNeedier(b[1], a[1]) ? b : a));
    if (nextLevel(neediest) === Infinity) break;
    neediest.slots += 1;
    holdings.delete(gateway);
    holdings.set(gateway, neediest);
  }
  const all = [...holdings.values()];
  for (; free > 0; free -= 1) all.reduce((a, b) => (unusedSlots(b) < unusedSlots(a) ? b : a)).slots += 1;
}

/** Whether its next call has a better level; of equal levels, whether it holds fewer slots. */
function isNeedier(one: Holding, other: Holding): boolean {
  const [level, otherLevel] = [nextLevel(one), nextLevel(other)];
  return level < otherLevel || (level === otherLevel && one.slots < other.slots);
}
