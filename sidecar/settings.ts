import { z } from 'zod';
import { clientRetries, ghostMs } from './config/retries.js';
import { count } from './config/note.js';
import { enginesFailedMax, noEngineMs } from './config/faults.js';
import { admission, balancer, policy, starvation } from './config/scheduling.js';

const limit = count(1, 1e9);
const time = z.number().positive();

/**
 * The part of the configuration that the scheduler and its balancer use, and that an event log contains. It also parses
 * a whole configuration. Event logs from before a key existed get its default.
 */
export const settingsSchema = z.object({
  policy,
  starvation,
  admission,
  balancer,
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
