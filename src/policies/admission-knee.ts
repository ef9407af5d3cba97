import type { AdmissionPolicy } from './admission.js';

/** Load, over the cost of an empty step, up to which every call goes. Prefills of others count into what load is seen to cost. */
const KNEE = 2.5;
/** Part of the cost to others that counts: half of what a step is seen to take longer by is their prefills, not their contexts. */
const COST_SHARE = 0.5;
/** Growth of a call's weight with its wait: it doubles within a tenth of what its program has attained. */
const WAIT_WEIGHT = 10;
/** Least service that a wait is taken against. */
const SERVICE_MS_MIN = 2000;
/** Part of the gate above which time in the cache is scarcer than time in the step: a context that waits there costs more. */
const ACTIVE_SHARE_MAX = 0.5;

/**
 * The engine's knee. A step takes T = a + c x load. While the load costs no more than the empty step a, one more call is
 * nearly free; beyond, each call slows all others. Past 2.5 a, a call joins only if that gains more than it costs:
 *
 *     weight x (1 + 10 x waited / attained)  >=  1/2 x (sum of the batch's weights) x (its share of the step)
 *
 * The left side is what its program gains by running now, the right side what the programs that run lose by the longer step;
 * weights are completion indices (`completion-index.ts`). Calls that are alike never hold each other back, as the share of one
 * of n in the step is below 1/n. A call's weight grows with its wait, so none is held for ever.
 *
 * The constants are the best of those tried on the standing loads (docs/EXPERIMENTS.md, "The engine's knee").
 */
export const kneeAdmission: AdmissionPolicy = {
  name: 'knee',
  admits({ index, serviceMs, waitedMs, loadTokens, batchIndex, batchTokens, emptyMs, msPerToken, activeShare }) {
    const ownMs = msPerToken * loadTokens;
    const loadMs = msPerToken * batchTokens + ownMs;
    if (loadMs <= KNEE * emptyMs || activeShare > ACTIVE_SHARE_MAX) return true;
    const urgency = 1 + (WAIT_WEIGHT * waitedMs) / Math.max(serviceMs, SERVICE_MS_MIN);
    return index * urgency * (emptyMs + loadMs) >= COST_SHARE * batchIndex * ownMs;
  },
};
