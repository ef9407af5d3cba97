import { faded, HORIZON_STEPS } from './idle-steps.js';
import type { RetentionPolicy } from './retention.js';

/** Every idle context is held alike, for half as much after each half-life, whatever becomes of others like it. */
export function halfLifeRetention(): RetentionPolicy {
  return {
    name: 'half-life',
    share: (_kind, age) => (age < HORIZON_STEPS ? faded(age) : 0),
    learn: () => undefined,
  };
}
