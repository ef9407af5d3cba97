/**
 * What was seen of calls and programs, by the simulator in virtual time and by the load tester in real time. Times are
 * milliseconds of one clock; NaN: it never came to that.
 */
export interface CallRecord {
  readonly program: string;
  /** Index in its program's calls. */
  readonly call: number;
  readonly thread: string;
  /** When its client sent it, or meant to: waiting for a busy client counts. */
  readonly arrivedMs: number;
  /** When a gateway gave it to an engine for the last time. */
  readonly dispatchedMs: number;
  readonly firstTokenMs: number;
  readonly endedMs: number;
  readonly engine: string | undefined;
  readonly promptTokens: number;
  readonly outputTokens: number;
  readonly cachedTokens: number;
  readonly outcome: CallOutcome;
}

/** `completed`, or the code of what went wrong: a refusal of the scheduler, or an error class of the load tester. */
export type CallOutcome = 'completed' | (string & {});

export interface ProgramRecord {
  readonly program: string;
  /** Which workload of a mixture it came from; '' when there is one only. */
  readonly workload: string;
  readonly arrivedMs: number;
  /** The end of its last call. A program with a call that failed ends there: what depends on the call is never made. */
  readonly endedMs: number;
  /** Calls that were made, and those that never were because one before them failed. */
  readonly calls: number;
  readonly callsCancelled: number;
  readonly promptTokens: number;
  readonly outputTokens: number;
  /** Longest wait of one of its calls before an engine had it. */
  readonly longestQueueMs: number;
  /** What it takes in an empty system; NaN where nobody can tell. */
  readonly aloneMs: number;
  readonly outcome: CallOutcome;
}

/** Hears of each call and each program when it has ended. */
export interface Observer {
  callEnded?(record: CallRecord): void;
  programEnded(record: ProgramRecord): void;
}
