import type { Engine } from '../engines/engine.js';
import type { Call } from '../programs/call.js';

/** Prompt lengths are estimates: what is this much over the limit is over it for sure. */
const SURELY_OVER = 1.25;

/**
 * Whether the call's prompt is longer than any of the engines takes: they will refuse it at once, and its agent, which
 * then shortens it, must hear that at once. So it waits for no room. A prompt that may be too long does not wait either
 * where no gate would ever let it in: nobody else has to make way for what may be refused.
 */
function isOversized(call: Call, engines: readonly Engine[], gate: number): boolean {
  let longest = 0;
  let widest = 0;
  for (const engine of engines) {
    if (engine.contextTokensMax === undefined) return false;
    longest = Math.max(longest, engine.contextTokensMax);
    widest = Math.max(widest, engine.gateTokens(gate));
  }
  if (engines.length === 0 || call.promptTokens <= longest) return false;
  return call.promptTokens > longest * SURELY_OVER || call.needTokens > widest;
}

/** The least loaded engine that is open, for a call that none of these takes; undefined where one may take it. */
export function refuserFor(call: Call, engines: readonly Engine[], gate: number, nowMs: number): Engine | undefined {
  if (!isOversized(call, engines, gate)) return undefined;
  const open = engines.filter((each) => each.isOpen(nowMs) && !each.probation && !call.failedOn.includes(each));
  return open.reduce<Engine | undefined>((a, b) => (a === undefined || b.inFlight < a.inFlight ? b : a), undefined);
}
