/** A seeded stream of numbers (mulberry32). */
export class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = Math.imul(seed + 1, 0x9e3779b1) >>> 0;
  }

  /**
   * An independent stream for one of many items under a seed, such as one program: its draws change no other item's.
   */
  static of(seed: number, index: number): Dice {
    const mixed = Math.imul(seed ^ (seed >>> 16), 0x85ebca6b) ^ Math.imul(index + 1, 0xc2b2ae35);
    return new Dice((mixed ^ (mixed >>> 13)) >>> 0);
  }

  /** At least 0, below 1. */
  share(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from `least` to `most`, both included. */
  int(least: number, most: number): number {
    return least + Math.floor(this.share() * (most - least + 1));
  }

  /** Normal, of mean 0 and variance 1 (Box and Muller). */
  normal(): number {
    return Math.sqrt(-2 * Math.log(1 - this.share())) * Math.cos(2 * Math.PI * this.share());
  }

  /** Log-normal: half of the draws are below `median`, 95 % below `p95`. */
  logNormal(median: number, p95: number): number {
    return median * power(p95 / median, this.normal() / 1.645);
  }

  /**
   * Gamma of scale 1, by Marsaglia and Tsang, "A simple method for generating gamma variables" (2000).
   * @param shape above 0; also its mean
   */
  gamma(shape: number): number {
    if (shape < 1) return this.gamma(shape + 1) * power(1 - this.share(), 1 / shape);
    const d = shape - 1 / 3;
    const c = 1 / Math.sqrt(9 * d);
    for (;;) {
      const x = this.normal();
      const root = 1 + c * x;
      const v = root * root * root;
      if (v > 0 && Math.log(1 - this.share()) < 0.5 * x * x + d - d * v + d * Math.log(v)) return d * v;
    }
  }

  /** Gamma of that mean and coefficient of variation: with 1 it is exponential, near 0 always the mean. */
  gammaOf(mean: number, cv: number): number {
    return cv < 1e-6 ? mean : this.gamma(1 / cv ** 2) * mean * cv ** 2;
  }
}

/** For a base above 0. `**` differs in its last digit between versions of Node; logarithms and exponentials do not. */
const power = (base: number, exponent: number): number => Math.exp(exponent * Math.log(base));
