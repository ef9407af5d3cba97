import type { ProgramRecord } from '../../sim/index.js';
import { Reservoir } from './sample.js';

/** Programs below which nothing can be said. */
const PROGRAMS_MIN = 20;
/** Growth from the first half of the arrivals to the second: 3 for a steady growth, 1 for a steady state. */
const GROWTH = 2;
/** Share of all programs that are late towards the end: below 5 %, engines do 95 % of what arrives. */
const LATE_SHARE = 0.05;

/**
 * Whether a run is a drain: more arrived than could be served, so that its times tell how long it lasted and nothing
 * else. Counts late programs: those that would have ended in an empty system. In an overload their number grows under
 * any policy, whichever programs it holds back.
 */
export class Backlog {
  readonly #programs: Reservoir<{ readonly dueMs: number; readonly endedMs: number }>;
  #firstMs = Infinity;
  #lastMs = -Infinity;

  constructor(seed: number) {
    this.#programs = new Reservoir(seed);
  }

  programEnded({ arrivedMs, endedMs, aloneMs, outcome }: ProgramRecord): void {
    this.#firstMs = Math.min(this.#firstMs, arrivedMs);
    this.#lastMs = Math.max(this.#lastMs, arrivedMs);
    // Of a failed program nobody knows when it would have ended.
    if (outcome === 'completed' && !Number.isNaN(aloneMs)) this.#programs.add({ dueMs: arrivedMs + aloneMs, endedMs });
  }

  /** Whether the queue grew for as long as programs arrived; null where too few programs tell. */
  get grew(): boolean | null {
    const { kept } = this.#programs;
    const spanMs = this.#lastMs - this.#firstMs;
    if (kept.length < PROGRAMS_MIN || spanMs <= 0) return null;
    const late = (from: number, until: number): number => {
      const [fromMs, untilMs] = [this.#firstMs + from * spanMs, this.#firstMs + until * spanMs];
      const lateMs = kept.reduce((sum, { dueMs, endedMs }) => sum + Math.max(0, Math.min(endedMs, untilMs) - Math.max(dueMs, fromMs)), 0); // prettier-ignore
      return lateMs / (untilMs - fromMs);
    };
    const last = late(0.75, 1);
    return last > late(0.5, 0.75) && late(0.5, 1) >= GROWTH * late(0, 0.5) && last >= LATE_SHARE * kept.length;
  }
}
