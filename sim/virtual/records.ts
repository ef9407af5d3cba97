/**
 * Measurements of calls and programs, by the simulator in virtual time and by the load tester in real time. Times are
 * milliseconds of one clock; NaN: never reached.
 */
export interface CallRecord {
  readonly program: string;
  /** Index in its program's calls. */
  readonly call: number;
  readonly thread: string;
  /** Time at which its client sent it, or meant to: waiting for a busy client counts. */
  readonly arrivedMs: number;
  /** Time of its last dispatch to an engine. */
  readonly dispatchedMs: number;
  readonly firstTokenMs: number;
  readonly endedMs: number;
  readonly engine: string | undefined;
  readonly promptTokens: number;
  readonly outputTokens: number;
  readonly cachedTokens: number;
  readonly outcome: CallOutcome;
}

/** `completed`, or the code of the fault: a refusal of the scheduler, or an error class of the load tester. */
export type CallOutcome = 'completed' | (string & {});

export interface ProgramRecord {
  readonly program: string;
  /** Its workload in a mixture; '' when there is only one. */
  readonly workload: string;
  readonly arrivedMs: number;
  /** End of its last call. A failed call ends its program: the calls that depend on it are never made. */
  readonly endedMs: number;
  /** Calls that were made, and calls never made because an earlier one failed. */
  readonly calls: number;
  readonly callsCancelled: number;
  readonly promptTokens: number;
  readonly outputTokens: number;
  /** Longest wait of one of its calls for an engine. */
  readonly longestQueueMs: number;
  /** Its time in an empty system; NaN when unknown. */
  readonly aloneMs: number;
  readonly outcome: CallOutcome;
}

/** Receives each call and each program when it has ended. */
export interface Observer {
  callEnded?(record: CallRecord): void;
  programEnded(record: ProgramRecord): void;
}
