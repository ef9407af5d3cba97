import { HORIZON_STEPS } from './idle-steps.js';
import type { RetentionPolicy } from './retention.js';

/** Longest time to hold a context, in milliseconds (SAGA's TTL_max); four half-lives, if that is less. */
const HELD_MS_MAX = 300_000;
/** The time where no tool is known to run: the cold start of `ToolLatency`. */
const COLD_MS = 10_000;
/** Shares of the cache in use between which the time falls to one half. */
const PRESSURE = { from: 0.7, to: 0.9 };

/**
 * SAGA's rule (its equation 6): holds an idle context in full for the 95th percentile of the latency of the tools that
 * it waits for, less as the cache fills, and then not at all. A class is such a time, in steps.
 *
 * Its order of leaving under pressure, WA-LRU, is left out. It is for engines that evict as they are told; behind a
 * gateway they evict the longest idle, whatever has a claim (docs/EXPERIMENTS-DETAILS.md, "Retention").
 */
export function sagaRetention(): RetentionPolicy {
  const share: RetentionPolicy['share'] = (steps, age, { used }) => {
    const pressure = Math.min(1, Math.max(0, (used - PRESSURE.from) / (PRESSURE.to - PRESSURE.from)));
    return age < steps * (1 - pressure / 2) ? 1 : 0;
  };
  return {
    name: 'saga',
    classOf: ({ program, thread }, { stepMs }) => {
      const silenceMs = program.outlook?.silenceMs(thread) ?? COLD_MS;
      return Math.min(HORIZON_STEPS, Math.ceil(Math.min(silenceMs, HELD_MS_MAX) / stepMs));
    },
    share,
    // Tools are learnt from calls. Here hits and misses are counted, for metrics.
    learn: (steps, age, { program, thread }, stakes) => {
      if (age !== undefined) program.outlook?.returned(thread, share(steps, age, stakes) > 0);
    },
  };
}
