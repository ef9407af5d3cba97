import { loadOf } from '../engines/batch.js';
import type { Engine } from '../engines/engine.js';
import type { Accounts } from '../programs/accounts.js';
import type { Call } from '../programs/call.js';
import { headroomOf, needTokens, queuesOf } from './obstacle.js';
import type { PlacementRules } from './balancer.js';

/** Share of the window that calls may fill by background ones beside others, and of the gate that these leave free. */
const SLOT_SHARE = 0.5;
const FREE_SHARE = 0.2;
/** Load of background calls alone, over the cost of an empty step: more gains little, and holds up the next arrival. */
const ALONE_SHARE = 1.5;

/**
 * Whether a background call may start now. It takes only the room that others leave:
 *
 *     queue     no other call waits for the engine
 *     slots     beside others half of the window stays free; without others, each that finishes makes room for two
 *     cache     a fifth of the gate stays free, besides the claims of idle contexts
 *     steps     beside others, the load of all background calls lengthens a step by `admission.backgroundShare` at most
 *     prefill   beside others, it takes that share of the time until the next may start
 */
export function findsRoom(
  call: Call,
  engine: Engine,
  rules: PlacementRules,
  accounts: Accounts,
  nowMs: number,
): boolean {
  if (queuesOf(engine).some((queue) => queue.first(accounts)?.isBackground === false)) return false;
  if (engine.inFlightAnywhere === 0) return true;
  const { batch, stepTime } = engine;
  const isShared = hasOthers(engine);
  const slots = isShared
    ? SLOT_SHARE * engine.limitSize - engine.inFlight
    : engine.backgroundMax - batch.backgroundCalls;
  if (slots <= 0 || nowMs < paceUntilMs(engine, rules)) return false;
  const { gate, backgroundShare } = rules.config.admission;
  const room = headroomOf(engine, rules, nowMs).new - FREE_SHARE * engine.gateTokens(gate);
  if (needTokens(call, engine) > room) return false;
  // Until the step is measured, one beside others is the most.
  if (stepTime.emptyMs === undefined) return !isShared || batch.backgroundCalls === 0;
  const othersMs = stepTime.emptyMs + stepTime.msPerToken * (batch.loadTokens - batch.backgroundTokens);
  const ownMs = stepTime.msPerToken * (batch.backgroundTokens + loadOf(call));
  return ownMs <= (isShared ? backgroundShare : ALONE_SHARE) * othersMs;
}

/** Work of a background call that starts: beside others, the next one waits for a multiple of it. */
export function paceOf(call: Call, engine: Engine, { config }: PlacementRules, nowMs: number): Engine['paced'] {
  const tokens = Math.max(1, call.promptTokens - call.sharedTokens);
  return { atMs: nowMs, prefillMs: tokens * engine.prices(config.policy.msPerPromptToken).computed };
}

/** When the next background call may start, if the calls in flight stay as they are. */
export function paceUntilMs(engine: Engine, { config }: PlacementRules): number {
  if (engine.paced === undefined || !hasOthers(engine)) return -Infinity;
  const { atMs, prefillMs } = engine.paced;
  return atMs + prefillMs / config.admission.backgroundShare;
}

const hasOthers = ({ inFlightAnywhere, batch }: Engine): boolean => inFlightAnywhere > batch.backgroundCalls;
