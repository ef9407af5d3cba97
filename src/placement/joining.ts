import type { SchedulerConfig } from '../config.js';
import { loadOf, weightOf } from '../engines/batch.js';
import type { Engine } from '../engines/engine.js';
import type { Joining } from '../policies/admission.js';
import type { Call } from '../programs/call.js';
import type { CompletionIndex } from '../programs/completion-index.js';

/** Lower bound on the service that a wait is compared with, in first quanta: 2 s by default. */
const SERVICE_QUANTA_MIN = 16;

/**
 * The call and the batch that it would join. Undefined when nothing runs, or too little is known of steps or programs.
 */
export function joiningOf(
  call: Call,
  engine: Engine,
  { admission, policy }: SchedulerConfig,
  completionIndex: Pick<CompletionIndex, 'isLearnt'>,
  nowMs: number,
): Joining | undefined {
  const { batch, stepTime } = engine;
  if (stepTime.emptyMs === undefined || !completionIndex.isLearnt || engine.inFlightAnywhere === 0) return undefined;
  return {
    index: weightOf(call),
    serviceMs: Math.max(call.serviceAtArrivalMs, SERVICE_QUANTA_MIN * policy.firstQuantumMs),
    waitedMs: call.waitingMs(nowMs),
    loadTokens: loadOf(call),
    batchIndex: batch.weight,
    batchTokens: batch.loadTokens,
    emptyMs: stepTime.emptyMs,
    msPerToken: stepTime.msPerToken,
    takenShare: engine.takenShare(admission.gate),
  };
}
