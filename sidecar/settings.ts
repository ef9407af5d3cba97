import { z } from 'zod';
import { clientRetries, ghostMs } from './config/retries.js';
import { count } from './config/note.js';
import { enginesFailedMax, noEngineMs } from './config/faults.js';
import { admission, balancer, policy, starvation } from './config/scheduling.js';

const limit = count(1, 1e9);
const time = z.number().positive();

/**
 * What the scheduler and its balancer take of the configuration, and nothing else: what an event log holds of it. A whole
 * configuration parses to this; so does what an event log holds, where keys that came later get their defaults.
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
