import type { AgentProgram, Arrivals } from '../workloads/index.js';
import type { ApiName } from './apis/index.js';
import type { IdentityName } from './identity.js';
import type { CallRecord, ProgramRecord } from '../sim/index.js';

/** Options of a load test. Times are milliseconds. */
export interface LoadOptions {
  /** One base URL, or two to compare; each with or without a trailing `/v1`. */
  readonly targets: readonly string[];
  /** Returns the programs of a run, the same each time it is called: once for each target. */
  readonly programs: (run: number) => Iterable<AgentProgram>;
  readonly maxPrograms: number;
  /** Number of runs, one after the other; absent: `RUNS` to compare two targets, if the first run is short. */
  readonly runs?: number | undefined;
  /** Upper bound on a program's arrival after the start of its run; programs under way run to their ends. */
  readonly durationMs: number;
  readonly arrivals: Arrivals;
  readonly timeScale: number;
  /** Longest gap, before that division. */
  readonly gapMsMax: number;
  readonly api: ApiName;
  readonly stream: boolean;
  readonly identity: IdentityName;
  /** Absent: the first model that a target lists. */
  readonly model?: string | undefined;
  readonly apiKey?: string | undefined;
  /** Seed of all randomness, except names on the wire. */
  readonly seed: number;
  /** Requests answers of exactly the wanted length, from targets that support that. */
  readonly ignoreEos: boolean;
  /** Continues from the recorded answers of a trace, not from the target's. */
  readonly recordedAnswers: boolean;
  /** Most calls in flight to a target; any further call waits, and counts as sent late. */
  readonly connections: number;
  readonly timeoutMs: number;
  /** Whether the user states that they own the targets, whatever their addresses. */
  readonly ownsTargets: boolean;
  /** An engine behind each target, to be asked before the run in its place: a gateway would count these calls. */
  readonly measuredAt?: readonly string[];
  /** Where times alone are from: calls before the run, nothing, or those before another one. */
  readonly baseline: 'estimate' | 'none' | AloneSpeed;
  /** Receives one sentence for each limitation of the run, before the first program is sent. */
  readonly onWarning?: ((warning: string) => void) | undefined;
  readonly onProgress?: ((progress: LoadProgress) => void) | undefined;
}

/** Runs that show the spread from run to run, and the longest first run that is repeated unasked. */
export const RUNS = 3;
export const SHORT_MS = 60_000;

export interface LoadProgress {
  readonly elapsedMs: number;
  readonly programsStarted: number;
  readonly programsEnded: number;
  /** Programs of all targets in the whole run; undefined when a time or a signal ends it. */
  readonly programsTotal: number | undefined;
  /** Several where they are wanted, or where a short first one is repeated. */
  readonly runs: number;
  readonly callsInFlight: number;
}

/** A straight line through calls that had the target to themselves. */
export interface AloneSpeed {
  readonly overheadMs: number;
  readonly promptTokenMs: number;
  readonly outputTokenMs: number;
  /** By how large a share the second fastest of these calls were slower than the fastest. */
  readonly spread: number;
}

/** A target that cannot be used, in one line. */
export class LoadError extends Error {
  override readonly name = 'LoadError';
}

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
  'broken_stream', // the stream ended before it was complete, or with an error event
  'wrong_content', // what came is not an answer of the API: HTML, not JSON, not SSE
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
  /** The error, in the target's words or ours; '' for a completed call. At most some 300 characters. */
  readonly detail?: string;
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
}

export interface LoadObserver {
  callEnded(record: LoadCallRecord): void;
  programEnded(record: LoadProgramRecord): void;
}
