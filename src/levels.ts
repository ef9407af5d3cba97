import type { PolicySettings } from './config.js';

/** The K ranges [lo, hi) of attained service: lo_1 = 0, hi_i = firstQuantumMs x quantumRatio^(i-1), hi_K = Infinity. */
export class Levels {
  readonly #upperMs: readonly number[];

  constructor(config: Pick<PolicySettings, 'levels' | 'firstQuantumMs' | 'quantumRatio'>) {
    this.#upperMs = Array.from({ length: config.levels }, (_, level) =>
      level === config.levels - 1 ? Infinity : config.firstQuantumMs * config.quantumRatio ** level,
    );
  }

  /** The queue, 0 first, whose range holds this service. */
  of(serviceMs: number): number {
    let level = 0;
    while (serviceMs >= this.upperMs(level)) level += 1;
    return level;
  }

  upperMs(level: number): number {
    return this.#upperMs[level] ?? Infinity;
  }
}
