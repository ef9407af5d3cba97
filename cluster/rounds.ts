/** Least milliseconds between two rounds of claims: every gateway hears of each, and each looks at all engines. */
const ROUND_MS = { gateway: 1, engine: 1 / 32 };
/** The same while no call waits at any gateway: others learn only of loads and homes. */
const CALM_ROUND_MS = 25;

/** When a gateway reports its changes to the store. */
export class Rounds {
  #lastMs = -Infinity;
  #next: 'none' | 'calm' | 'urgent' = 'none';

  /**
   * There may be something to report.
   * @param isUrgent whether calls wait, here or elsewhere
   * @returns when the next round is to begin, which may be past; undefined: as planned before
   */
  plan(isUrgent: boolean, gateways: number, engines: number): number | undefined {
    const wanted = isUrgent ? 'urgent' : 'calm';
    if (this.#next === wanted || this.#next === 'urgent') return undefined;
    this.#next = wanted;
    const leastMs = gateways * ROUND_MS.gateway + engines * ROUND_MS.engine;
    return this.#lastMs + (isUrgent ? leastMs : Math.max(leastMs, CALM_ROUND_MS));
  }

  begin(nowMs: number): void {
    this.#next = 'none';
    this.#lastMs = nowMs;
  }
}
