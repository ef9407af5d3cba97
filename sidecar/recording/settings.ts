import { z } from 'zod';
import { configKeys } from '../config/index.js';

const { policy, starvation, admission, balancer, limits, timeouts } = configKeys.shape;
const LIMITS = {
  programsMax: true,
  queuedMax: true,
  queuedPerTenantMax: true,
  attemptsMax: true,
  enginesFailedMax: true,
  clientRetries: true,
} as const;
const TIMES = { queueMs: true, noEngineMs: true, leaseMs: true, ghostMs: true } as const;

/**
 * The part of the configuration that the scheduler and its balancer use, and that an event log contains. It also parses
 * a whole configuration. Event logs from before a key existed get its default, and keys that have left are ignored:
 * `src/protocol/behaviour.ts` tells what their going changed.
 */
export const settingsSchema = z.object({
  policy: policy.unwrap(),
  starvation: starvation.unwrap(),
  admission: admission.unwrap(),
  balancer: balancer.unwrap(),
  limits: limits.unwrap().in.pick(LIMITS).required().strip(),
  timeouts: timeouts.unwrap().pick(TIMES).strip(),
});
