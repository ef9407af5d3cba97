import type { PolicySettings } from '../config.js';
import { Levels } from '../levels.js';
import type { Policy } from '../policy.js';

/**
 * Call-level MLFQ, Autellix's baseline: every new call starts in the first queue whatever its program has had, and sinks
 * by its own service alone.
 */
export function mlfqCall(config: PolicySettings): Policy {
  const levels = new Levels(config);
  return {
    name: 'mlfq-call',
    admits: true,
    levels: config.levels,
    stand: () => ({ level: 0, rank: 0 }),
    quantumEndMs: (_call, level) => levels.upperMs(level),
  };
}
