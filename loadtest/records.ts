import type { CallRecord, ProgramRecord } from '../sim/index.js';

/** Classes of what can go wrong with a call, each counted apart. `cancelled`: a call before it failed. */
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
  'hung_up', // we left, as we were asked to
] as const;
export type ErrorClass = (typeof ERROR_CLASSES)[number];

/**
 * A call as the load tester saw it. `outcome`: `completed` or an error class. `arrivedMs` is when it was meant to be sent.
 * `cachedTokens` is NaN where the target does not tell, `dispatchedMs` where no gateway said how long a call waited.
 */
export interface LoadCallRecord extends CallRecord {
  readonly target: number;
  /** When it was really sent: later than `arrivedMs` only by the load tester's own doing. */
  readonly sentMs: number;
  /** What the gateway said that it waited there (`x-maitred-queue-ms`); NaN where it said nothing. */
  readonly queueMs: number;
  /** The queue of the gateway that it ran from (`x-maitred-level`); NaN where it said nothing. */
  readonly level: number;
  /** What went wrong, in the target's words or ours; '' for a completed call. At most some 300 characters. */
  readonly detail?: string;
  /** Mean time between tokens after the first; NaN for fewer than two. */
  readonly interTokenMs: number;
}

/** A program as the load tester saw it, with where its time went: along its critical path, by what its calls said. */
export interface LoadProgramRecord extends ProgramRecord {
  readonly target: number;
  /** Number of its twin on the other target: the same program of the same seed. */
  readonly index: number;
  readonly queueMs: number;
  readonly engineMs: number;
  readonly toolMs: number;
  /** Longest chain of calls and gaps behind one another: what it took if nothing but itself held it up. */
  readonly criticalPathMs: number;
}

export interface LoadObserver {
  callEnded(record: LoadCallRecord): void;
  programEnded(record: LoadProgramRecord): void;
}
