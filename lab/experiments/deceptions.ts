import { misidentified, noisyService, untimed, type WorldOptions } from '../../sim/index.js';

/** Ways in which a scheduler is told what is not so, or more than clients usually tell. */
export const DECEPTIONS = {
  'service-noise': (seed) => ({ lens: noisyService(0.5, seed) }),
  'queueing-counted': () => ({ lens: untimed }),
  'split-programs': (seed) => ({ lens: misidentified({ split: 0.05, merged: 0 }, seed) }),
  'merged-programs': (seed) => ({ lens: misidentified({ split: 0, merged: 0.05 }, seed) }),
  'split-and-merged': (seed) => ({ lens: misidentified({ split: 0.05, merged: 0.05 }, seed) }),
  'stale-reports': () => ({ reports: { staleMs: 1000 } }),
  'announced-ends': () => ({ announceEnds: true }),
} satisfies Record<string, (seed: number) => Partial<WorldOptions>>;

export type Deception = keyof typeof DECEPTIONS;
