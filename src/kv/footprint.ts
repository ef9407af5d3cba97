/** The context that a finished call leaves in the engine's cache, and the estimates made from it. */
export interface CacheFootprint {
  /** Prompt and answer as they came out. */
  readonly contextTokens: number;
  /** Prompt tokens served from the cache; undefined when the engine does not report them. */
  readonly cachedTokens: number | undefined;
  /** Shared prefix of its family, and predicted size of the context; 0: no prediction. */
  readonly sharedTokens: number;
  readonly forecastTokens: number;
}

/** The estimates by which a context counts. */
export type Grown = Pick<CacheFootprint, 'sharedTokens' | 'forecastTokens'>;

/**
 * Trace of an ended call in the cache. `unknown`: it was cut off. `nothing`: it was refused or failed before its first
 * token.
 */
export type Left = CacheFootprint | 'unknown' | 'nothing';
