/** Ended programs remembered: each new one discounts the earlier ones by this fraction. */
const MEMORY_PROGRAMS = 256;
/** Ended programs needed before a declaration counts. */
const ENDED_MIN = 8;
/** Least share of the variance of sizes that declarations explain (R squared). Below it they are noise. */
const EXPLAINED_MIN = 0.25;

/**
 * How right one tenant's declared sizes have been: a regression of attained on declared work, both as logarithms, over
 * its ended programs.
 *
 *     ln attained = mean + slope x (ln declared - its mean)
 *
 * A constant factor between the two corrects itself. Declarations that scatter are drawn towards the mean, and those
 * that explain too little are not used. It judges a program by its first declaration.
 */
export class Calibration {
  #ended = 0;
  #weight = 0;
  #meanX = 0;
  #meanY = 0;
  #varX = 0;
  #varY = 0;
  #covariance = 0;

  /** A program has ended that attained `attainedMs` after its work was declared as `declaredMs`. */
  learn(declaredMs: number, attainedMs: number): void {
    const keep = 1 - 1 / MEMORY_PROGRAMS;
    this.#ended += 1;
    this.#weight = this.#weight * keep + 1;
    const dx = logOf(declaredMs) - this.#meanX;
    const dy = logOf(attainedMs) - this.#meanY;
    const share = 1 / this.#weight;
    this.#meanX += share * dx;
    this.#meanY += share * dy;
    // Decayed moments about the moving mean (West 1979).
    this.#varX = (1 - share) * (this.#varX + share * dx * dx);
    this.#varY = (1 - share) * (this.#varY + share * dy * dy);
    this.#covariance = (1 - share) * (this.#covariance + share * dx * dy);
  }

  /** Share of the variance of sizes that declarations explain, 0 to 1; 0 while too few programs have ended. */
  get explained(): number {
    if (this.#ended < ENDED_MIN || this.#covariance <= 0) return 0;
    return (this.#covariance * this.#covariance) / (this.#varX * this.#varY);
  }

  /** The service to expect of a program that declares this much; undefined while declarations tell too little. */
  expectedMs(declaredMs: number): number | undefined {
    if (this.explained < EXPLAINED_MIN) return undefined;
    const slope = this.#covariance / this.#varX;
    return Math.exp(this.#meanY + slope * (logOf(declaredMs) - this.#meanX));
  }
}

/** Below a millisecond sizes do not differ. */
const logOf = (ms: number): number => Math.log(Math.max(1, ms));
