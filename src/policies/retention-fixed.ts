import { faded, HORIZON_STEPS } from './idle-steps.js';
import type { RetentionPolicy } from './retention.js';

/** Rules that learn nothing. */
const fixed = { classOf: () => 0, learn: () => undefined };

/** Holds every idle context alike: the share halves with each half-life. */
export const halfLifeRetention = (): RetentionPolicy => ({
  ...fixed,
  share: (_kind, age) => (age < HORIZON_STEPS ? faded(age) : 0),
});

/** Holds nothing: contexts stay for as long as the engine's own order, least recently used, keeps them. */
export const lruRetention = (): RetentionPolicy => ({ ...fixed, share: () => 0 });
