import type { CallId, Dispatch, EngineId, Family, TenantId, Tokens, Usage } from '../../src/index.js';
import type { Active } from '../active.js';
import type { AnswerFacts, Api, JsonObject, RequestFacts } from '../apis/api.js';
import type { HeldBody } from '../bodies/held.js';
import type { Config } from '../config/schema.js';
import type { Driver } from '../driver.js';
import type { Fleet } from '../engines/fleet.js';
import type { ErrorCode } from '../errors.js';
import type { Identity } from '../identity/identity.js';

/** A request that has been read, checked and identified. */
export interface CallSpec {
  readonly id: CallId;
  readonly requestId: string;
  readonly api: Api;
  readonly path: string;
  /** The query with its question mark, or ''. */
  readonly search: string;
  readonly tenant: TenantId;
  readonly identity: Identity;
  readonly facts: RequestFacts;
  /** The only engine that may run it; absent: any that serves the model. */
  readonly engine?: EngineId;
  readonly promptTokens: Tokens;
  readonly prefix: readonly number[] | undefined;
  /** Equal for a repetition of the request. */
  readonly fingerprint: string;
  /** The client says that it has asked before. */
  readonly isRetry: boolean;
  readonly family: Family | undefined;
  readonly raw: Buffer;
  /** What the body counts for in memory, until the call has ended. */
  readonly held: HeldBody;
  /** Top-level keys of the body. */
  readonly keys: ReadonlySet<string>;
  /** Fields to set whatever engine it goes to. */
  readonly fields: JsonObject;
}

/** How an accepted call ended: `maitred_calls_ended_total{outcome}`. */
export const OUTCOMES = ['completed', 'client_error', 'engine_error', 'cancelled', 'timed_out', 'drained'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** What is known of a call when it has ended. */
export interface CallReport {
  readonly outcome: Outcome;
  /** Sent to the client; 499 when it had left. */
  readonly status: number;
  readonly code: ErrorCode | undefined;
  /** The last one. */
  readonly dispatch: Dispatch | undefined;
  readonly attempts: number;
  readonly queueMs: number;
  /** Arrival to the first event of a stream. */
  readonly ttftMs: number | undefined;
  /** Last dispatch to the end. */
  readonly serviceMs: number | undefined;
  readonly durationMs: number;
  readonly usage: Usage | undefined;
}

/** A call, as those see it whom it tells something. */
export interface CallHandle extends Active {
  readonly spec: CallSpec;
}

/** What calls use of the gateway, and what they tell it. */
export interface CallPorts {
  readonly driver: Driver;
  readonly fleet: Fleet;
  /** The configuration as it is now. */
  readonly config: () => Config;
  /** Never accepted: the scheduler had no place for it. */
  readonly refused: (spec: CallSpec, code: ErrorCode) => void;
  readonly accepted: (call: CallHandle) => void;
  readonly dispatched: (dispatch: Dispatch, retry: boolean) => void;
  readonly commented: () => void;
  /** It leaves the queue unserved, and its client may ask again. */
  readonly mayReturn: (spec: CallSpec) => void;
  /** An engine gave its response this id; told again with what it used. */
  readonly madeResponse: (id: string, spec: CallSpec, engine: EngineId, usage?: Usage) => void;
  /** A whole answer was read. */
  readonly answered: (spec: CallSpec, facts: AnswerFacts, usage: Usage | undefined) => void;
  readonly ended: (call: CallHandle, report: CallReport) => void;
}
