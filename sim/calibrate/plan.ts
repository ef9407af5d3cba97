import type { Dice } from '../../workloads/index.js';

/** One request of a plan; prompt lengths are approximate. */
export interface PlannedRequest {
  readonly afterMs: number;
  readonly promptTokens: number;
  readonly outputTokens: number;
}

/** Groups of requests; each group begins when the one before it has ended. */
export type Plan = readonly (readonly PlannedRequest[])[];

export interface PlanLimits {
  readonly promptTokensMax: number;
  readonly concurrencyMax: number;
}

const PREFILL_SHARES = [0.005, 0.015, 0.04, 0.1, 0.25, 0.5, 1];
const ROUNDS = 3;
const SHORT_TOKENS = 32;
const DECODED_TOKENS = 48;

/** The measurements for the fit: prefill by length, decode by concurrency, and decode by context. */
export function fittingPlan({ promptTokensMax, concurrencyMax }: PlanLimits): Plan {
  const together = (count: number, promptTokens: number, outputTokens = DECODED_TOKENS) =>
    Array.from({ length: count }, () => ({ afterMs: 0, promptTokens, outputTokens }));
  const prefill = PREFILL_SHARES.map((share) => together(1, Math.max(8, Math.round(share * promptTokensMax)), 1));
  const counts = [1, 2, 4, 8, 16, 32].filter((count) => count < concurrencyMax).concat(concurrencyMax);
  const decode = counts.map((count) => together(count, SHORT_TOKENS));
  const half = Math.round(promptTokensMax / 2);
  const context = [together(1, half), together(1, promptTokensMax), together(Math.min(4, concurrencyMax), half)];
  // Lengths alternate in rounds, so that a slow minute of the machine does not fall on one length alone.
  return Array.from({ length: ROUNDS }, (_, round) => [...prefill, ...(round === 0 ? [] : decode), ...context]).flat();
}

/** The measurements that test the fit: requests of all sizes that arrive while others run, within the limits. */
export function testPlan({ promptTokensMax, concurrencyMax }: PlanLimits, tokenMs: number, dice: Dice): Plan {
  return Array.from({ length: 3 }, () =>
    Array.from({ length: concurrencyMax }, () => ({
      afterMs: dice.share() * 2 * DECODED_TOKENS * tokenMs,
      promptTokens: dice.int(SHORT_TOKENS, Math.max(SHORT_TOKENS, Math.round(promptTokensMax / 2))),
      outputTokens: dice.int(DECODED_TOKENS / 4, DECODED_TOKENS),
    })),
  );
}
