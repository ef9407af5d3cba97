import type { Preset } from '../engine/presets.js';
import { stepMs } from '../engine/roofline.js';
import type { AgentCall, AgentProgram } from '../../workloads/index.js';
import { keptTokensOf } from './declared.js';

/** Service of all calls of a program. */
export const sizeMs = (preset: Preset, { calls }: AgentProgram): number =>
  calls.reduce((sum, call) => sum + serviceMs(preset, call), 0);

/**
 * Service of a call by itself: the prefill of its prompt beyond the shared prefix, and a step for each token of its
 * answer.
 */
export function serviceMs(preset: Preset, call: AgentCall): number {
  const { promptTokens, outputTokens } = call;
  const kept = keptTokensOf(call);
  const tokens = promptTokens - kept;
  const attended = tokens * kept + (tokens * (tokens + 1)) / 2;
  const prefillMs = stepMs(preset, { sequences: 1, tokens, attended, context: promptTokens });
  const context = promptTokens + outputTokens / 2;
  return prefillMs + outputTokens * stepMs(preset, { sequences: 1, tokens: 1, attended: context, context });
}
