import { type Preset, stepMs } from '../sim/index.js';
import type { AgentProgram } from '../workloads/index.js';
import { textTokens } from './tokens.js';

const BYTES_PER_TOKEN = 4;
/** Ratio of measured run times, including the start of the engines, to the lower bound computed here. */
const SLACK = 3.4;

export interface Terms {
  readonly engines: number;
  readonly preset: Preset;
  readonly gapScale: number;
  readonly gapMsMax: number;
}

/**
 * Estimated time in seconds of programs that all start at once: the greater of the longest program alone, and the
 * engines' time for half of all prompt tokens. The other half is assumed to hit the caches.
 */
export function estimateSeconds(programs: readonly AgentProgram[], { engines, preset, ...gaps }: Terms): number {
  const tokenMs = stepMs(preset, { sequences: 1, tokens: 1, attended: 0, context: 0 });
  const prefillMs = (1000 * preset.flopsPerToken) / preset.flopsPerSecond;
  let aloneMsMax = 0;
  let promptMs = 0;
  for (const program of programs) {
    const prompts = textTokens(program, BYTES_PER_TOKEN);
    let aloneMs = (prompts.at(-1) ?? 0) * prefillMs;
    for (const { outputTokens, gapMs } of program.calls) {
      aloneMs += outputTokens * tokenMs + Math.min(gapMs, gaps.gapMsMax) * gaps.gapScale;
    }
    aloneMsMax = Math.max(aloneMsMax, aloneMs);
    promptMs += prompts.reduce((sum, tokens) => sum + tokens, 0) * prefillMs;
  }
  return (SLACK * Math.max(aloneMsMax, promptMs / 2 / engines)) / 1000;
}
