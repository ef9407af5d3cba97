import { faded, HORIZON_STEPS } from './idle-steps.js';
import type { RetentionPolicy } from './retention.js';

/** Holds every idle context alike: the share halves with each half-life. It learns nothing. */
export function halfLifeRetention(): RetentionPolicy {
  return {
    name: 'half-life',
    classOf: () => 0,
    share: (_kind, age) => (age < HORIZON_STEPS ? faded(age) : 0),
    learn: () => undefined,
  };
}
