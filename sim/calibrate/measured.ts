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

type Times = Pick<Measured, 'firstTokenMs' | 'endMs'>;

/**
 * What is compared of a measured request and a predicted one: the time to its end, and to its first token where it was
 * alone. Where others were there, that time turns on which of them came in the same step; and the time between tokens is
 * left out, since tokens that waited in some buffer come at once.
 */
export function observed({ outputTokens }: Measured, { firstTokenMs, endMs }: Times, isAlone: boolean): number[] {
  if (!isAlone) return [endMs];
  return outputTokens === 1 ? [firstTokenMs] : [firstTokenMs, endMs];
}
