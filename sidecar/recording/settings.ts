import { z } from 'zod';
import { configKeys } from '../config/index.js';

const { policy, starvation, admission, balancer, limits, timeouts } = configKeys.shape;
const { enginesFailedMax, clientRetries } = limits.unwrap().in.shape;
const { noEngineMs, ghostMs } = timeouts.unwrap().shape;
const limit = z.int().min(1).max(1e9);
const time = z.number().positive();

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
  limits: z.object({
    programsMax: limit,
    queuedMax: limit,
    queuedPerTenantMax: limit,
    attemptsMax: limit,
    enginesFailedMax,
    clientRetries,
  }),
  timeouts: z.object({ queueMs: time, noEngineMs, leaseMs: time, ghostMs }),
});
