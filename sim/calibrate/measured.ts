/** One request to a server as its client measured it. Times in milliseconds. */
export interface Measured {
  /** Time since the first request of its group was sent. */
  readonly sentMs: number;
  /** The server's own count. */
  readonly promptTokens: number;
  readonly outputTokens: number;
  /** Since it was sent. */
  readonly firstTokenMs: number;
  readonly endMs: number;
}

/** Requests that were in the server together, with no others. */
export type Group = readonly Measured[];

type Times = Pick<Measured, 'firstTokenMs' | 'endMs'>;

/**
 * The compared times of a measured and a predicted request: to the end, and for a lone request also to the first token.
 * Among others, the first token depends on which requests shared its step. The time between tokens is left out, since
 * buffered tokens arrive together.
 */
export function observed({ outputTokens }: Measured, { firstTokenMs, endMs }: Times, isAlone: boolean): number[] {
  if (!isAlone) return [endMs];
  return outputTokens === 1 ? [firstTokenMs] : [firstTokenMs, endMs];
}
