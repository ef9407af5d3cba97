/** One request to a server, as its client saw it. Times in milliseconds. */
export interface Measured {
  /** Since the first request of its group was sent. */
  readonly sentMs: number;
  /** As the server counted them. */
  readonly promptTokens: number;
  readonly outputTokens: number;
  /** From when it was sent. */
  readonly firstTokenMs: number;
  readonly endMs: number;
}

/** Requests that were in the server together, and nothing else. */
export type Group = readonly Measured[];

/** Fewer tokens than these do not tell the time of one. */
const OUTPUT_TOKENS_MIN = 8;

type Times = Pick<Measured, 'firstTokenMs' | 'endMs'>;

/**
 * What is compared of a measured request and a predicted one: the time to its first token where it was alone, to its end
 * where others had a part in it, and the time of a token after the first.
 */
export function observed(measured: Measured, { firstTokenMs, endMs }: Times, isAlone: boolean): number[] {
  const { outputTokens } = measured;
  const times = [isAlone ? firstTokenMs : endMs];
  // Tokens that came all at once, out of some buffer, tell nothing of theirs.
  if (outputTokens >= OUTPUT_TOKENS_MIN && measured.endMs > measured.firstTokenMs)
    times.push((endMs - firstTokenMs) / (outputTokens - 1));
  return times;
}
