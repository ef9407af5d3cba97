import type { PolicySettings } from '../config.js';
import { Levels } from '../levels.js';
import type { Policy } from '../policy.js';

/**
 * PLAS and ATLAS (Autellix, "Program-level Prioritization"): a call enters the queue of its program's attained service,
 *     p(c) = P.service on arrival,        P.service = max(P.service, p(c) + t_c) on completion,
 * which is the running sum of a serial program and the longest observed chain of a parallel one. First come, first
 * served inside a queue; a running call that outlasts its queue's range is demoted.
 */
export function plas(config: PolicySettings): Policy {
  const levels = new Levels(config);
  return {
    name: 'plas',
    admits: true,
    levels: config.levels,
    stand: (arrival) => ({ level: levels.of(arrival.service0Ms), rank: 0 }),
    quantumEndMs: (call, level) => levels.upperMs(level) - (call.promoted ? 0 : call.service0Ms),
  };
}
