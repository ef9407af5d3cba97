import type { Engine } from '../engines/engine.js';
import type { Call } from '../programs/call.js';
import { holds } from './eligible.js';

/** Ratio to the limit from which a prompt is surely over-long: prompt lengths are estimates. */
const SURELY_OVER = 1.25;
/** Most calls that an engine is to refuse at once, beside its window: a padded prompt only looks over-long. */
const PASSING_MAX = 2;

/**
 * Whether the call's prompt exceeds the limit of every engine. An engine refuses it at once; the agent must hear that
 * at once, because it then shortens the prompt. So the call does not wait for room. A prompt that may be too long does
 * not wait either if no gate would ever admit it. No other call should make way for a call that may be refused.
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

/** Whether the engine has as many over-long calls as it may have at once. */
export function passesMany({ running }: Engine): boolean {
  let passing = 0;
  for (const call of running) if (call.isOversized) passing += 1;
  return passing >= PASSING_MAX;
}

/**
 * The open engine with fewest calls in flight, for a call that none of these engines accepts; undefined: one may accept
 * it.
 */
export function refuserFor(call: Call, engines: readonly Engine[], gate: number, nowMs: number): Engine | undefined {
  if (!isOversized(call, engines, gate)) return undefined;
  const open = engines.filter(
    (each) => each.isOpen(nowMs) && !each.probation && !holds(each, call) && !call.failedOn.includes(each),
  );
  return open.reduce<Engine | undefined>((a, b) => (a === undefined || b.inFlight < a.inFlight ? b : a), undefined);
}
