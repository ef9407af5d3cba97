/** The context that a finished call leaves in the engine's cache, and what was learnt from it. */
export interface CacheFootprint {
  /** Prompt and answer as they came out. */
  readonly contextTokens: number;
  /** Part of the prompt that was there already, if the engine says. */
  readonly cachedTokens: number | undefined;
  /** Part of it that the family shares, and the size that it is expected to come to. */
  readonly sharedTokens: number;
  readonly forecastTokens: number;
}

/** The sizes by which a context counts. */
export type Grown = Pick<CacheFootprint, 'sharedTokens' | 'forecastTokens'>;

/** `unknown`: the call ran and was cut off. `nothing`: it was refused or failed before its first token. */
export type Left = CacheFootprint | 'unknown' | 'nothing';
