import { play, type PlayOptions } from './core-play.js';

/** Number of random runs for each statement; set by `TEST_SEQUENCES`. */
const SEQUENCES = Number(process.env['TEST_SEQUENCES'] ?? 60);

/**
 * Plays many random sequences; a failure names its seed. As a function, `options` can reset its records for each run.
 */
export function playMany(options: Omit<PlayOptions, 'seed'> | ((seed: number) => Omit<PlayOptions, 'seed'>)): void {
  for (let seed = 0; seed < SEQUENCES; seed += 1) {
    try {
      play({ ...(typeof options === 'function' ? options(seed) : options), seed });
    } catch (error) {
      throw new Error(`in sequence ${seed}: ${(error as Error).message}`, { cause: error });
    }
  }
}
