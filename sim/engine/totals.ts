/** Running totals since the engine was made. */
export const noTotals = () => ({
  /** Prompt tokens of requests whose prefill is complete, cached ones included. */
  promptTokens: 0,
  /** Prompt tokens that steps computed, recomputation after a preemption included. */
  computedPromptTokens: 0,
  generatedTokens: 0,
  /** Prompt tokens looked up in the prefix cache, and found there; once a request. */
  queriedTokens: 0,
  hitTokens: 0,
  preemptions: 0,
  steps: 0,
  /** Requests that joined a later step than the first one after their arrival. */
  waits: 0,
  finished: 0,
  aborted: 0,
});
export type EngineTotals = ReturnType<typeof noTotals>;

/** Running totals of a host tier since the engine was made. */
export const noHostTotals = () => ({
  /** Prompt tokens looked up there after the KV cache, and found there; once a request. */
  queriedTokens: 0,
  hitTokens: 0,
  /** Tokens moved, and the time for them, in milliseconds. */
  loadedTokens: 0,
  loadMs: 0,
  storedTokens: 0,
  storeMs: 0,
  /** Loads that brought nothing: their requests compute the tokens. */
  failedLoads: 0,
});

export function addTotals<K extends string>(
  totals: Record<K, number>,
  others: Readonly<Record<K, number>>,
): Record<K, number> {
  for (const key of Object.keys(totals) as K[]) totals[key] += others[key];
  return totals;
}
