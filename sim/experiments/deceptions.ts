import type { WorldOptions } from '../virtual/options.js';

/** Ways in which a scheduler is told what is not so, or more than it usually is. */
export type Deception = 'stale-reports' | 'announced-ends';

export function deceive(deception: Deception): Partial<WorldOptions> {
  switch (deception) {
    case 'stale-reports':
      return { reports: { staleMs: 1000 } };
    case 'announced-ends':
      return { announceEnds: true };
  }
}
