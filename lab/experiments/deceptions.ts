import {
  type Conditions,
  conditionsSchema,
  described,
  misidentified,
  noisyService,
  unjoined,
  unlike,
  untimed,
  type WorldOptions,
} from '../../sim/index.js';

/** Clients declare wrongly how much work their programs bring. */
const declaring = (declarations: Partial<NonNullable<Conditions['declarations']>>) => () => ({
  conditions: conditionsSchema.parse({ declarations }),
});

/** Ways to misinform a scheduler, or to tell it more than clients usually do. */
export const DECEPTIONS = {
  'service-noise': (seed) => ({ lens: noisyService(0.5, seed) }),
  'queueing-counted': () => ({ lens: untimed }),
  'split-programs': (seed) => ({ lens: misidentified({ split: 0.05, merged: 0 }, seed) }),
  'merged-programs': (seed) => ({ lens: misidentified({ split: 0, merged: 0.05 }, seed) }),
  'split-and-merged': (seed) => ({ lens: misidentified({ split: 0.05, merged: 0.05 }, seed) }),
  'split-sub-agents': () => ({ lens: unjoined }),
  'described-families': () => ({ lens: described }),
  'unlike-families': () => ({ lens: unlike }),
  'wrong-sizes': declaring({ spread: 4 }),
  'wrong-graphs': declaring({ mistakenShare: 1 }),
  'some-wrong-graphs': declaring({ mistakenShare: 0.25 }),
  'stale-reports': () => ({ reports: { staleMs: 1000 } }),
  'announced-ends': () => ({ announceEnds: true }),
} satisfies Record<string, (seed: number) => Partial<WorldOptions>>;

export type Deception = keyof typeof DECEPTIONS;
