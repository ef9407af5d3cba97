import type { SchedulerConfig } from '../config.js';
import type { Policy } from '../policies/policy.js';
import type { Balancer } from './balancer.js';

/** The rules of placement; replaced as a whole on reload. */
export interface PlacementRules {
  readonly config: SchedulerConfig;
  readonly balancer: Balancer;
  readonly policy: Pick<Policy, 'admits' | 'weighs'>;
}
