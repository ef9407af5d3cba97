import type { SeenCall } from './seen-calls.js';

/** Latest time and most calls that an estimate covers. */
export const LIMITS = { windowMs: 900_000, callsMax: 20_000 };

/** The calls that ended last. */
export class ShadowWindow {
  #calls: SeenCall[] = [];
  #sinceMs = -Infinity;

  constructor(private readonly limits = LIMITS) {}

  /** In the order of their ends. */
  get calls(): readonly SeenCall[] {
    return this.#calls;
  }

  /** Time from which on all ends are in it. */
  get sinceMs(): number {
    return this.#sinceMs;
  }

  /** @param sinceMs when it changes, earlier calls do not count any more */
  take(ended: readonly SeenCall[], sinceMs: number, nowMs: number): void {
    if (sinceMs > this.#sinceMs) {
      this.#calls = [];
      this.#sinceMs = sinceMs;
    }
    this.#calls.push(...ended);
    const { windowMs, callsMax } = this.limits;
    const late = this.#calls.findIndex(({ endedMs }) => endedMs >= nowMs - windowMs);
    const old = Math.max(late < 0 ? this.#calls.length : late, this.#calls.length - callsMax);
    const last = this.#calls.splice(0, old).at(-1);
    this.#sinceMs = Math.max(this.#sinceMs, nowMs - windowMs, last?.endedMs ?? -Infinity);
  }
}
