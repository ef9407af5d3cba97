import type { Balancer, Candidate, Placeable, Usage } from '../src/index.js';
import { leastLoadedOf } from './least-loaded.js';

/** Share of a short call's prompt that any engine has cached, by Autellix ("short requests ... >= 75 %"). */
const HIT_SHARE_MIN = 0.75;
/** Weight of one measurement in the running mean. */
const WEIGHT = 1 / 32;
const STRIDE = 1.1;
/** Share of an engine's cache above which any prompt is long, for small caches: of large ones 2,048 tokens are less. */
const LONG_SHARE = 1 / 50;

export interface ProgramAffinityOptions {
  /** Longest prompt that is spread instead of sent home; 2048 in the paper. */
  readonly thresholdTokens: number;
  /** Whether measured prefix hits move the threshold. */
  readonly adaptThreshold: boolean;
}

/**
 * Autellix's locality-aware balancer (Alg. 2), the default.
 *
 *     prompt <= threshold   any engine, the least loaded, when its turn comes (late binding); binds nothing
 *     prompt >  threshold   its program's home; without one, the least loaded, which becomes its home
 *
 * The threshold rests on a measurement: short prompts hit the cache wherever they run, since most of them is a common
 * system prompt. So this balancer measures the hit share of prompts near the threshold that ran away from their
 * program's last engine. Below 0.75 the threshold sinks by a tenth (more calls go home); above, it rises. It stays
 * between a quarter of the configured value and four times that value. A small cache bounds the threshold as well,
 * because even a short prompt is a large share of it.
 */
export function programAffinity(options: ProgramAffinityOptions): Balancer {
  let threshold = options.thresholdTokens;
  let hitShare = HIT_SHARE_MIN;
  const isLong = (call: Placeable, engine?: Candidate): boolean =>
    call.promptTokens > Math.min(threshold, LONG_SHARE * (engine?.capacityTokens ?? Infinity));

  function measure(call: Placeable, usage: Usage, warm: boolean): void {
    if (!options.adaptThreshold || warm || usage.cachedTokens === undefined || usage.promptTokens === 0) return;
    if (isLong(call) || call.promptTokens < threshold / 2) return;
    hitShare += WEIGHT * (usage.cachedTokens / usage.promptTokens - hitShare);
    const moved = hitShare < HIT_SHARE_MIN ? threshold / STRIDE : threshold * STRIDE;
    threshold = Math.min(options.thresholdTokens * 4, Math.max(options.thresholdTokens / 4, moved));
  }

  return {
    name: 'program-affinity',
    spills: true,
    place: (call, home) => (isLong(call, home) ? home : undefined),
    choose: (_call, open) => leastLoadedOf(open),
    binds: isLong,
    finished: measure,
  };
}
