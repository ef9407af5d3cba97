import type { AdmissionPolicy } from './admission.js';

/**
 * Load cost, over the cost of an empty step, up to which every call is admitted. Others' prefills inflate the measured
 * load cost.
 */
const KNEE = 2.5;
/** Share of the cost to others that counts: half of a step's measured slowdown is due to prefills, not to contexts. */
const COST_SHARE = 0.5;
/** Growth of a call's weight with its wait: it doubles within a tenth of its program's attained service. */
const WAIT_WEIGHT = 10;
/** Share of the cache's room from which on it is scarcer than step time: a call that waits keeps its context from others. */
const TAKEN_SHARE_MAX = 0.8;

/**
 * The engine's knee. A step takes T = a + c x load. While the load costs no more than the empty step a, one more call
 * is nearly free; beyond, each call slows all others. Past 2.5 a, a call joins only if it gains more than it costs:
 *
 *     weight x (1 + 10 x waited / attained)  >=  1/2 x (sum of the batch's weights) x (its share of the step)
 *
 * The left side is its program's gain from running now; the right side is the running programs' loss from the longer
 * step. Weights are completion indices, or 1 / a declared rest (`weightOf`). Equal calls never hold each other back, since the share
 * of one of n in the step is below 1/n. A call's weight grows with its wait, so no call is held for ever.
 *
 * The constants are the best of those tried on the standing workloads (lab/NOTEBOOK.md, "The engine's knee").
 */
export const kneeAdmission: AdmissionPolicy = {
  name: 'knee',
  admits({ index, serviceMs, waitedMs, loadTokens, batchIndex, batchTokens, emptyMs, msPerToken, takenShare }) {
    const ownMs = msPerToken * loadTokens;
    const loadMs = msPerToken * batchTokens + ownMs;
    if (loadMs <= KNEE * emptyMs || takenShare > TAKEN_SHARE_MAX) return true;
    const urgency = 1 + (WAIT_WEIGHT * waitedMs) / serviceMs;
    return index * urgency * (emptyMs + loadMs) >= COST_SHARE * batchIndex * ownMs;
  },
};
