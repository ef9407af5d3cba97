/** Running totals since the engine was made. */
export interface EngineTotals {
  /** Prompt tokens of requests whose prefill is complete, cached ones included. */
  promptTokens: number;
  /** Prompt tokens that steps computed, recomputation after a preemption included. */
  computedPromptTokens: number;
  generatedTokens: number;
  /** Prompt tokens looked up in the prefix cache, and found there; once a request. */
  queriedTokens: number;
  hitTokens: number;
  preemptions: number;
  /** Steps begun. */
  steps: number;
  /** Requests that joined a later step than the first one after their arrival. */
  waits: number;
  finished: number;
  aborted: number;
}

export const noTotals = (): EngineTotals => ({
  promptTokens: 0,
  computedPromptTokens: 0,
  generatedTokens: 0,
  queriedTokens: 0,
  hitTokens: 0,
  preemptions: 0,
  steps: 0,
  waits: 0,
  finished: 0,
  aborted: 0,
});

/** Adds the second totals to the first, in place. */
export function addTotals(totals: EngineTotals, others: EngineTotals): EngineTotals {
  for (const key of Object.keys(totals) as (keyof EngineTotals)[]) totals[key] += others[key];
  return totals;
}
