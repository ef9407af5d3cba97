import type { CallRecord, ProgramRecord } from '../sim/index.js';

/** Classes of errors of a call, each counted separately. `cancelled`: an earlier call failed. */
export const ERROR_CLASSES = [
  'unreachable', // no connection, or it was refused or reset before an answer
  'tls', // the connection could not be made safe
  'timeout', // no answer, or silence inside one, for too long
  'http_408',
  'http_429',
  'http_499',
  'http_503',
  'http_4xx',
  'http_5xx',
  'broken_stream', // the stream ended before it was complete
  'wrong_content', // what came is not an answer of the API: HTML, not JSON, not SSE, an error event
] as const;
export type ErrorClass = (typeof ERROR_CLASSES)[number];

/**
 * A call as the load tester saw it. `outcome`: `completed` or an error class. `arrivedMs` is its planned time of
 * sending. `cachedTokens` is NaN if the target does not report it, `dispatchedMs` if no gateway reported a wait.
 */
export interface LoadCallRecord extends CallRecord {
  readonly target: number;
  /** Index of the run, of those that repeat one another. */
  readonly run: number;
  /** Actual time of sending: later than `arrivedMs` only through the load tester itself. */
  readonly sentMs: number;
  /** Wait reported by the gateway (`x-maitred-queue-ms`); NaN without a report. */
  readonly queueMs: number;
  /** The gateway's queue that it ran from (`x-maitred-level`); NaN without a report. */
  readonly level: number;
  /** The error, in the target's words or ours; '' for a completed call. At most some 300 characters. */
  readonly detail?: string;
  /** Mean time between tokens after the first; NaN for fewer than two. */
  readonly interTokenMs: number;
}

/** A program as the load tester saw it, with its time split along the critical path, by its calls' reports. */
export interface LoadProgramRecord extends ProgramRecord {
  readonly target: number;
  readonly run: number;
  /** Index of its twin on the other target: the same program of the same seed. */
  readonly index: number;
  readonly queueMs: number;
  readonly engineMs: number;
  readonly toolMs: number;
  /** Longest chain of dependent calls and gaps: the program's time without any queueing. */
  readonly criticalPathMs: number;
}

export interface LoadObserver {
  callEnded(record: LoadCallRecord): void;
  programEnded(record: LoadProgramRecord): void;
}
