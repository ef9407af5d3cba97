import type { Engine } from '../engines/engine.js';
import type { Call } from '../programs/call.js';

/**
 * Those of the engines that may run a call that engines have failed: others than these, or all once its pause is over.
 * None on probation, since the failure may be the call's own and would condemn an engine that is well again.
 */
export function retriersOf(call: Call, live: readonly Engine[]): readonly Engine[] {
  const sound = live.filter(({ id, probation }) => !probation && (call.onlyOn ?? id) === id);
  const untried = sound.filter((engine) => !call.failedOn.includes(engine));
  return untried.length > 0 || call.retryAtMs !== -Infinity ? untried : sound;
}
