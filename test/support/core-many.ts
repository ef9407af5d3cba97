import { play, type PlayOptions } from './core-play.js';

/** Random runs of each statement; `MAITRED_SEQUENCES` makes them more. */
const SEQUENCES = Number(process.env['MAITRED_SEQUENCES'] ?? 300);

/** Plays many random sequences; a failure says which. `options` may start what it keeps of each run anew. */
export function playMany(options: Omit<PlayOptions, 'seed'> | ((seed: number) => Omit<PlayOptions, 'seed'>)): void {
  for (let seed = 0; seed < SEQUENCES; seed += 1) {
    try {
      play({ ...(typeof options === 'function' ? options(seed) : options), seed });
    } catch (error) {
      throw new Error(`in sequence ${seed}: ${(error as Error).message}`, { cause: error });
    }
  }
}
