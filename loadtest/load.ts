import type { AgentProgram, Arrivals } from '../workloads/index.js';
import type { ApiName } from './apis/api.js';
import type { IdentityName } from './identity.js';

/** What to send, where to, and how. Times are milliseconds. */
export interface LoadOptions {
  /** One base URL, or two to be compared; each with or without a `/v1` at its end. */
  readonly targets: readonly string[];
  /** Gives the same programs each time it is asked: once for each target. */
  readonly programs: () => Iterable<AgentProgram>;
  readonly maxPrograms: number;
  /** No program arrives later than this after the first; those under way go on to their ends. */
  readonly durationMs: number;
  readonly arrivals: Arrivals;
  /** What gaps, and times between arrivals, are divided by. */
  readonly timeScale: number;
  /** Longest gap, before it is divided. */
  readonly gapMsMax: number;
  readonly api: ApiName;
  readonly stream: boolean;
  readonly identity: IdentityName;
  /** Absent: the first that a target lists. */
  readonly model?: string | undefined;
  readonly apiKey?: string | undefined;
  /** Of all chance but that of names on the wire. */
  readonly seed: number;
  /** Begins every conversation with words that no other run has, so that no cache knows it. */
  readonly salt: boolean;
  /** Asks for answers of exactly the wanted length, of targets that can be asked. */
  readonly ignoreEos: boolean;
  /** Goes on from the answers that a trace recorded, not from those of the target. */
  readonly recordedAnswers: boolean;
  /** Most calls in flight to a target; one more waits, which counts as sent late. */
  readonly connections: number;
  /** Of a call from its sending to its end. */
  readonly timeoutMs: number;
  /** Share of the calls that are left in the middle of their stream, 0 to 1. */
  readonly hangUp: number;
  /** The user says that targets are theirs, wherever they are. */
  readonly ownsTargets: boolean;
  readonly baseline: 'estimate' | 'none';
  /** Told in a sentence, before the first program is sent, what makes the run less than what was asked for. */
  readonly onWarning?: ((warning: string) => void) | undefined;
  /** Told a few times a second how far the run is. */
  readonly onProgress?: ((progress: LoadProgress) => void) | undefined;
}

/** How far a run is, over all targets together. */
export interface LoadProgress {
  readonly elapsedMs: number;
  readonly programsStarted: number;
  readonly programsEnded: number;
  /** Programs of all targets in the whole run; undefined where its end is a time, or a signal. */
  readonly programsTotal: number | undefined;
  readonly callsInFlight: number;
}

/** What is known when a run has ended, besides the records of its calls and programs. */
export interface LoadSummary {
  readonly startedAt: Date;
  readonly endedAt: Date;
  /** On the clock of the records, whose 0 is the start. */
  readonly elapsedMs: number;
  /** False: it was stopped before its last program had ended. */
  readonly complete: boolean;
  /** Programs that were under way when it was stopped, of which there is no record. */
  readonly programsUnfinished: number;
  /** Programs that were left out, since a call of theirs is longer than the target's model takes. */
  readonly programsTooLong: number;
  readonly targets: readonly TargetFacts[];
  readonly generator: GeneratorHealth;
  /** Sentences for whoever reads the report: what makes its figures less than they seem. */
  readonly warnings: readonly string[];
}

/** What was found out about a target before the run. */
export interface TargetFacts {
  readonly url: string;
  readonly model: string;
  /** What it says that it is, such as `vllm 0.32.0`; undefined where it says nothing. */
  readonly server: string | undefined;
  /** Longest prompt and answer together; undefined where it does not tell. */
  readonly maxModelLen: number | undefined;
  /** How text was made to so many tokens: counted by the target, calibrated by what it charged for, or guessed. */
  readonly tokenizer: 'tokenize' | 'usage' | 'guess';
  /** Whether what was made has exactly the wanted number of tokens. */
  readonly isExact: boolean;
  /** Whether answers can be made exactly as long as wanted. */
  readonly ignoresEos: boolean;
  /** What one call takes alone, as measured before the run: where `aloneMs` comes from. Undefined: it was not measured. */
  readonly alone: AloneSpeed | undefined;
  /** Prompt tokens that calls whose text was made should have had, and had by the target's own count. */
  readonly promptTokensWanted: number;
  readonly promptTokensCounted: number;
}

/** A straight line through a few calls that had the target to themselves. */
export interface AloneSpeed {
  /** Of any call: the way there and back, and what a target takes to begin. */
  readonly overheadMs: number;
  readonly promptTokenMs: number;
  readonly outputTokenMs: number;
}

/** Whether the load tester kept up with its own plan: what it measured is only as good as this. */
export interface GeneratorHealth {
  readonly cpuMs: number;
  /** Of one core, over the run. */
  readonly cpuShare: number;
  readonly calls: number;
  readonly cpuMsPerCall: number;
  /** How much later than asked the event loop turned. */
  readonly loopLagMs: Spread;
  /** How much later than meant calls were sent. */
  readonly lateSendMs: Spread;
  readonly callsInFlightMax: number;
}

export interface Spread {
  readonly mean: number;
  readonly p99: number;
  readonly max: number;
}

export type LoadErrorCode =
  | 'bad_target' // no http or https URL, or one with credentials
  | 'not_private'
  | 'unreachable'
  | 'tls'
  | 'timeout'
  | 'not_an_api' // it answers, but not as the API does
  | 'unauthorized'
  | 'no_such_model'
  | 'refused'; // the first call was refused for another reason

/** Why a run did not begin. */
export class LoadError extends Error {
  override readonly name = 'LoadError';

  constructor(
    readonly code: LoadErrorCode,
    message: string,
  ) {
    super(message);
  }
}
