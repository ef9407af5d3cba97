/** Observations remembered, and the least weight of those for a fit, which 32 have. */
const MEMORY = 512;
const WEIGHT_MIN = 31;
/** Least spread of loads, as a share of their mean, that yields a slope. */
const SPREAD_MIN = 0.1;
/** Least time of an empty step, as a share of the mean step. */
const EMPTY_SHARE_MIN = 0.1;

/** Sums over observations: of 1, load, ms, load², load x ms. Those of several gateways add up. */
export type StepSums = readonly number[];
export const NO_STEPS: StepSums = [0, 0, 0, 0, 0];

/**
 * The time of an engine's step, learnt from the time between output tokens and the load meanwhile:
 *
 *     T(load) = emptyMs + msPerToken x load             load: tokens of context in flight
 *
 * A step reads the weights once and then each context: the roofline of decode. The fit is least squares with fading
 * memory, over the observations of all gateways, once loads have varied enough to tell the two terms apart.
 */
export class StepTime {
  sums = NO_STEPS;
  #others = NO_STEPS;
  emptyMs: number | undefined;
  msPerToken = 0;

  /** @param stepMs mean time between the tokens of an answer @param loadTokens mean load during it */
  observe(stepMs: number, loadTokens: number): void {
    const keep = 1 - 1 / MEMORY;
    const added = [1, loadTokens, stepMs, loadTokens * loadTokens, loadTokens * stepMs];
    this.sums = this.sums.map((sum, i) => sum * keep + (added[i] ?? 0));
    this.#fit();
  }

  share(others: StepSums): void {
    this.#others = others;
    this.#fit();
  }

  #fit(): void {
    const sum = (i: number) => (this.sums[i] ?? 0) + (this.#others[i] ?? 0);
    const weight = sum(0);
    if (weight < WEIGHT_MIN) return;
    const [load, ms, loadMs] = [sum(1) / weight, sum(2) / weight, sum(4) / weight];
    const variance = sum(3) / weight - load * load;
    if (variance < SPREAD_MIN * load * (SPREAD_MIN * load)) return;
    const slope = (loadMs - load * ms) / variance;
    this.msPerToken = Math.max(0, Math.min(slope, ((1 - EMPTY_SHARE_MIN) * ms) / load));
    this.emptyMs = ms - this.msPerToken * load;
  }
}
