import type { PolicySettings } from '../config.js';

/** The K ranges [lo, hi) of attained service: lo_1 = 0, hi_i = firstQuantumMs x quantumRatio^(i-1), hi_K = Infinity. */
export class MlfqLevels {
  readonly #upperMs: readonly number[];

  constructor(config: Pick<PolicySettings, 'levels' | 'firstQuantumMs' | 'quantumRatio'>) {
    const uppersMs: number[] = [];
    // No `**`: its last digit varies with the version of Node; a recording must replay on any.
    for (let upperMs = config.firstQuantumMs; uppersMs.length < config.levels - 1; upperMs *= config.quantumRatio)
      uppersMs.push(upperMs);
    this.#upperMs = uppersMs;
  }

  /** The queue, 0 first, whose range contains this service; the last one if none does. */
  of(serviceMs: number): number {
    const level = this.#upperMs.findIndex((upperMs) => serviceMs < upperMs);
    return level === -1 ? this.#upperMs.length : level;
  }
}
