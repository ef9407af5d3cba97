/** Ended programs remembered: each new one discounts the earlier ones by this fraction. */
const MEMORY_PROGRAMS = 256;
/** Ended programs needed before a declaration counts. */
const ENDED_MIN = 8;
/** Least share of the variance of sizes that declarations explain (R squared). Below it they are noise. */
const EXPLAINED_MIN = 0.25;
/** Weight of the prior that sizes are proportional: that of one program whose declaration is e times the mean one. */
const PRIOR_WEIGHT = 1;
/** Factor by which an expectation may lie beyond the sizes of the tenant's programs so far. */
const BEYOND = 4;
/** Share of presumed ends that prove false above which they are not trusted, and below which they are again. */
const FALSE_MAX = 1 / 16;
const FALSE_MIN = 1 / 32;

/**
 * How right one tenant's declared sizes have been: a regression of attained on declared work of its ended programs.
 *
 *     ln attained = mean + slope x (ln declared - its mean)
 *
 * A constant factor between the two corrects itself. Declarations that scatter are drawn towards the mean, and those
 * that explain too little are not used. It judges a program by its first declaration.
 *
 * The slope is a ridge regression towards 1. Few or nearly equal declarations say nothing of it: the slope of least
 * squares, covariance / variance, would be chance without bound. No expectation lies far beyond the sizes seen.
 *
 * Few clients tell when a program has ended, so it is judged once it is presumed to have. Where programs often come back
 * from that, as with tools that take minutes, they are judged at their real ends alone, and the calibration begins anew.
 */
export class Calibration {
  #ended = 0;
  #weight = 0;
  #meanX = 0;
  #meanY = 0;
  #varX = 0;
  #varY = 0;
  #covariance = 0;
  /** Least and largest size seen, as logarithms. */
  #leastY = Infinity;
  #mostY = -Infinity;
  /** Presumed ends, and those that proved false; newer ones weigh more. */
  #presumed = 0;
  #revived = 0;
  /** Whether programs of the tenant that are presumed to have ended mostly have. */
  trustsPresumedEnds = true;

  presumedEnded(): void {
    const keep = 1 - 1 / MEMORY_PROGRAMS;
    this.#presumed = this.#presumed * keep + 1;
    this.#revived *= keep;
    if (this.#revived < FALSE_MIN * this.#presumed) this.trustsPresumedEnds = true;
  }

  revived(): void {
    this.#revived += 1;
    if (!this.trustsPresumedEnds || this.#revived <= FALSE_MAX * this.#presumed) return;
    this.trustsPresumedEnds = false;
    this.#ended = this.#weight = this.#meanX = this.#meanY = this.#varX = this.#varY = this.#covariance = 0;
    this.#leastY = Infinity;
    this.#mostY = -Infinity;
  }

  /** A program has ended that attained `attainedMs` after its work was declared as `declaredMs`. Both are finite. */
  learn(declaredMs: number, attainedMs: number): void {
    const [x, y] = [logOf(declaredMs), logOf(attainedMs)];
    const keep = 1 - 1 / MEMORY_PROGRAMS;
    this.#ended += 1;
    this.#weight = this.#weight * keep + 1;
    const dx = x - this.#meanX;
    const dy = y - this.#meanY;
    const share = 1 / this.#weight;
    this.#meanX += share * dx;
    this.#meanY += share * dy;
    // Decayed moments about the moving mean (West 1979).
    this.#varX = (1 - share) * (this.#varX + share * dx * dx);
    this.#varY = (1 - share) * (this.#varY + share * dy * dy);
    this.#covariance = (1 - share) * (this.#covariance + share * dx * dy);
    this.#leastY = Math.min(this.#leastY, y);
    this.#mostY = Math.max(this.#mostY, y);
  }

  get #slope(): number {
    return (this.#weight * this.#covariance + PRIOR_WEIGHT) / (this.#weight * this.#varX + PRIOR_WEIGHT);
  }

  /** Share of the variance of sizes that the line explains, up to 1; 0 while too few programs have ended. */
  get explained(): number {
    if (this.#ended < ENDED_MIN || this.#covariance <= 0) return 0;
    const slope = this.#slope;
    return Math.max(0, (slope * (2 * this.#covariance - slope * this.#varX)) / this.#varY);
  }

  /** The service to expect of a program that declares this much; undefined while declarations tell too little. */
  expectedMs(declaredMs: number): number | undefined {
    if (this.explained < EXPLAINED_MIN) return undefined;
    const y = this.#meanY + this.#slope * (logOf(declaredMs) - this.#meanX);
    return Math.min(Math.max(Math.exp(this.#leastY) / BEYOND, Math.exp(y)), Math.exp(this.#mostY) * BEYOND);
  }
}

/** Below a millisecond sizes do not differ. */
const logOf = (ms: number): number => Math.log(Math.max(1, ms));
