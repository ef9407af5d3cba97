import type { Span } from '@opentelemetry/api';
import type { IncomingHttpHeaders } from 'node:http';
import type { CallId, Dispatch, Elsewhere, EngineId, Family, TenantId, Tokens, Usage } from '../../src/index.js';
import type { Active, FailedAttempt } from './active.js';
import type { Bound } from './budget.js';
import type { readDeclaration } from './declaration.js';
import type { Api, JsonObject, RequestFacts } from '../apis/api.js';
import type { HeldBody } from '../bodies/held.js';
import type { ErrorCode } from '../errors.js';
import type { Fault } from '../http/exchange.js';
import type { Identity } from '../identity/identity.js';
import type { WaitCauses } from '../watch/wait-causes.js';

/** The trace of one call, from its arrival. */
export interface CallTrace {
  readonly span: Span;
  /** By `performance.now()`. */
  readonly startedMs: number;
  /** Names the call's span as the parent of the engine's own. */
  readonly traceparent: string;
  /** Whether the trace began here. Then a `tracestate` of the client belongs to none. */
  readonly isNew: boolean;
  attempts: number;
  /** Of the last attempt. */
  dispatchedMs: number;
}

/** Ways in which an engine fails an attempt. `busy`: it answered that it has no room (429, 503). */
export type FailureCause = Fault | 'busy';

/** A request that has been read, checked and identified. */
export interface CallSpec extends Readonly<ReturnType<typeof readDeclaration>> {
  readonly id: CallId;
  readonly requestId: string;
  readonly api: Api;
  readonly path: string;
  /** Query string with its question mark, or ''. */
  readonly search: string;
  readonly tenant: TenantId;
  readonly identity: Identity;
  /** The rest of its program's budget when it arrived; undefined: it has none. */
  readonly budgetLeft: string | undefined;
  /** The bounds of which it tells its model. */
  readonly warned: readonly { readonly key: Bound }[];
  /** Its program as other gateways know it; undefined: they know nothing new. */
  readonly elsewhere: Elsewhere | undefined;
  readonly facts: RequestFacts;
  /** The only engine that may run the call; absent: any that serves the model. */
  readonly engine?: EngineId | undefined;
  /** Whether others may, too, once it has failed it. */
  readonly mayMove: boolean;
  readonly promptTokens: Tokens;
  /** Equal for repetitions of the same request. */
  readonly fingerprint: string;
  /** Whether the client marks the request as a retry. */
  readonly isRetry: boolean;
  /** A line of a batch, whose file of results tells what became of it; undefined: a client's call. */
  readonly line: BatchLine | undefined;
  /** Whether it takes only room that others leave. */
  readonly isBackground: boolean;
  readonly family: Family | undefined;
  readonly headers: IncomingHttpHeaders;
  /** Memory account of the body, held until the call ends. */
  readonly held: HeldBody;
  /** Fields to set on every engine. */
  readonly fields: JsonObject;
  /** Undefined: tracing is off, or the client decided against it. */
  readonly trace: CallTrace | undefined;
}

export interface BatchLine {
  /** Whether it gives way to all others. */
  readonly isBackground: boolean;
  /** The engine of its part of the batch, if any. */
  readonly engine: EngineId | undefined;
  /** Called when an engine has it, and when that has sent it back. */
  readonly waits: (isWaiting: boolean) => void;
}

/** Outcomes of accepted calls: `maitred_calls_ended_total{outcome}`. */
export const OUTCOMES = [
  'completed',
  'client_error',
  'engine_error',
  'cancelled',
  'recalled',
  'timed_out',
  'drained',
] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** It is amended if its client left and its engine turns out to have been dead by then. */
export interface CallReport {
  outcome: Outcome;
  /** Status sent to the client; 499 if it had left. */
  readonly status: number;
  /** Status of an engine's refusal, which is an event of a stream that a comment has opened. */
  readonly refusal?: number | undefined;
  code: ErrorCode | undefined;
  /** The gateway’s own words to the client. */
  readonly message?: string | undefined;
  /** The last dispatch. */
  readonly dispatch: Dispatch | undefined;
  readonly attempts: number;
  /** Of the last of them that failed. */
  failures: readonly FailedAttempt[];
  /** Milliseconds by cause, as the waits were looked at. */
  readonly waits: ReturnType<WaitCauses['take']>;
  readonly queueMs: number;
  /** Time from arrival to the first event of a stream. */
  readonly ttftMs: number | undefined;
  /** Time from the last dispatch to the end. */
  readonly serviceMs: number | undefined;
  readonly durationMs: number;
  /** Whether an engine had it at its end. */
  readonly wasRunning: boolean;
  /** The last part of it, for which its engine had been down; 0: none. */
  readonly hungMs: number;
  readonly usage: Usage | undefined;
}

export interface CallHandle extends Active {
  readonly spec: CallSpec;
}
