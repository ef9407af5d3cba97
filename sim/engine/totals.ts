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
export function addTotals<K extends string>(
  totals: Record<K, number>,
  others: Readonly<Record<K, number>>,
): Record<K, number> {
  for (const key of Object.keys(totals) as K[]) totals[key] += others[key];
  return totals;
}

/** Running totals of a host tier since the engine was made. */
export interface HostTotals {
  /** Prompt tokens looked up there after the KV cache, and found there; once a request. */
  queriedTokens: number;
  hitTokens: number;
  /** Tokens moved, and the time for them, in milliseconds. */
  loadedTokens: number;
  loadMs: number;
  storedTokens: number;
  storeMs: number;
  /** Loads that brought nothing: their requests compute the tokens. */
  failedLoads: number;
}

export const noHostTotals = (): HostTotals => ({
  queriedTokens: 0,
  hitTokens: 0,
  loadedTokens: 0,
  loadMs: 0,
  storedTokens: 0,
  storeMs: 0,
  failedLoads: 0,
});
