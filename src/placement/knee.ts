import { loadOf, weightOf } from '../engines/batch.js';
import type { Engine } from '../engines/engine.js';
import type { Accounts } from '../programs/accounts.js';
import type { Call } from '../programs/call.js';
import type { CompletionIndex } from '../programs/completion-index.js';
import type { PlacementRules } from './balancer.js';

/** Load cost, over an empty step's, up to which every call is admitted. Others' prefills inflate the measured one. */
const KNEE = 2.5;
/** Share of the cost to others that counts: half of a step's measured slowdown is due to prefills, not to contexts. */
const COST_SHARE = 0.5;
/** Growth of a call's weight with its wait: it doubles within a tenth of its program's attained service. */
const WAIT_WEIGHT = 10;
/** Share of the cache's room from which on it is scarcer than step time: a call that waits keeps its context from others. */
const TAKEN_SHARE_MAX = 0.8;
/** Lower bound on the service that a wait is compared with, in first quanta: 2 s by default. */
const SERVICE_QUANTA_MIN = 16;

export interface Scales {
  readonly rules: PlacementRules;
  readonly completionIndex: Pick<CompletionIndex, 'isLearnt'>;
  readonly accounts: Accounts;
}

/**
 * Whether running the call, which has a slot and room, gains more than holding it. Never held: one moved to the front, or
 * of a tenant behind; nor any while nothing runs, or too little is known of steps or programs.
 *
 * The engine's knee: a step takes T = a + c x load. While the load costs no more than the empty step a, one more call
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
export function pays(
  call: Call,
  engine: Engine,
  { rules: { config, policy }, completionIndex, accounts }: Scales,
  nowMs: number,
): boolean {
  const { admission, policy: order } = config;
  const { batch, stepTime } = engine;
  const { emptyMs, msPerToken } = stepTime;
  if (!policy.weighs || call.promoted || call.isAged || accounts.isBehind(call.turn)) return true;
  if (admission.batching === 'none' || emptyMs === undefined || !completionIndex.isLearnt) return true;
  if (engine.inFlightAnywhere === 0) return true;
  const ownMs = msPerToken * loadOf(call);
  const loadMs = msPerToken * batch.loadTokens + ownMs;
  if (loadMs <= KNEE * emptyMs || engine.takenShare(admission.gate) > TAKEN_SHARE_MAX) return true;
  const serviceMs = Math.max(call.serviceAtArrivalMs, SERVICE_QUANTA_MIN * order.firstQuantumMs);
  const urgency = 1 + (WAIT_WEIGHT * call.waitingMs(nowMs)) / serviceMs;
  return weightOf(call) * urgency * (emptyMs + loadMs) >= COST_SHARE * batch.weight * ownMs;
}
