/** Observations remembered, and the fewest for a fit. */
const MEMORY = 512;
const OBSERVATIONS_MIN = 32;
/** Least spread of loads, as a share of their mean, that yields a slope. */
const SPREAD_MIN = 0.1;
/** Least time of an empty step, as a share of the mean step. */
const EMPTY_SHARE_MIN = 0.1;

/**
 * The time of an engine's step, learnt from the time between output tokens and the load meanwhile:
 *
 *     T(load) = emptyMs + msPerToken x load             load: tokens of context in flight
 *
 * A step reads the weights once, whatever its batch, and then each context: the roofline of decode. The fit is least
 * squares with fading memory. There is no fit until loads have varied enough to tell the two terms apart.
 */
export class StepTime {
  #weight = 0;
  #count = 0;
  #load = 0;
  #ms = 0;
  #loadLoad = 0;
  #loadMs = 0;
  emptyMs: number | undefined;
  msPerToken = 0;

  /** @param stepMs mean time between the tokens of an answer @param loadTokens mean load during it */
  observe(stepMs: number, loadTokens: number): void {
    const keep = 1 - 1 / MEMORY;
    this.#weight = this.#weight * keep + 1;
    this.#load = this.#load * keep + loadTokens;
    this.#ms = this.#ms * keep + stepMs;
    this.#loadLoad = this.#loadLoad * keep + loadTokens * loadTokens;
    this.#loadMs = this.#loadMs * keep + loadTokens * stepMs;
    this.#count += 1;
    if (this.#count >= OBSERVATIONS_MIN) this.#fit();
  }

  #fit(): void {
    const load = this.#load / this.#weight;
    const ms = this.#ms / this.#weight;
    const variance = this.#loadLoad / this.#weight - load * load;
    if (variance < SPREAD_MIN * load * (SPREAD_MIN * load)) return;
    const slope = (this.#loadMs / this.#weight - load * ms) / variance;
    this.msPerToken = Math.max(0, Math.min(slope, ((1 - EMPTY_SHARE_MIN) * ms) / load));
    this.emptyMs = ms - this.msPerToken * load;
  }
}
