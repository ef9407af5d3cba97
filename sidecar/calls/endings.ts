import { millis, type Dispatch, type Millis, type Reject } from '../../src/index.js';
import type { Fleet } from '../engines/index.js';
import { GatewayError } from '../errors.js';
import { noEngine } from '../unscheduled/models.js';
import type { CallReport, Outcome } from './spec.js';
import type { CallTimes } from './times.js';

/** Refusals after which a retry keeps the call's place. */
export const KEEPS_PLACE: ReadonlySet<Reject['refusal']> = new Set(['queue_timeout', 'queue_full', 'no_engine']);

const TEXTS = {
  queue_full: 'Too many calls are waiting.',
  overloaded: 'More calls wait than could be served in time.',
  queue_timeout: 'The call has waited too long; a retry keeps its place.',
};

/** The client's error when the scheduler refuses its call. @param failure failure of its last attempt */
export function refusalError(
  { refusal, retryAfterMs }: Reject,
  failure: GatewayError | undefined,
  fleet: Pick<Fleet, 'list'>,
): GatewayError {
  if (refusal === 'no_engine') return noEngine(fleet);
  if (refusal === 'attempts_exhausted') return failure ?? new GatewayError('engine_failed', 'The engines failed.');
  const retry = retryAfterMs === undefined ? {} : { retryAfterSeconds: Math.max(1, retryAfterMs / 1000) };
  return new GatewayError(refusal, TEXTS[refusal], retry);
}

export const outcomeOf = (error: GatewayError): Outcome =>
  error.status === 408 || error.status === 504 ? 'timed_out' : 'engine_error';

/** Failed attempts to remember of a call, and the most of an engine's words about one. */
const FAILURES_KEPT = 3;
const WORDS_MAX = 160;

/** The words of engines about a call's last failed attempts. */
export class Failures {
  last: CallReport['failures'] = [];
  /** Time since which engines have had no room for the call. */
  busySinceMs: number | undefined;

  note(dispatch: Dispatch | undefined, error: GatewayError | undefined, times: Pick<CallTimes, 'attempt'>): void {
    if (dispatch === undefined || error === undefined) return;
    const { status, names } = error.detail;
    const text =
      status === undefined ? error.message : `${status} ${names?.code ?? names?.type ?? error.code}: ${error.message}`;
    const message = text.length > WORDS_MAX ? `${text.slice(0, WORDS_MAX)}…` : text;
    this.last = [...this.last, { engine: dispatch.engine, message, ...times.attempt }].slice(-FAILURES_KEPT);
  }
}

/** Rest of an unreachable engine. */
const UNREACHED_MS = 250;
/** First pause before a call returns to an engine that failed it; doubles with each attempt. */
const PAUSE_MS = 100;
const PAUSE_MS_MAX = 5000;
/** Upper bound on the pause: by then an engine that is down has been probed. */
const BACK_MS_MAX = 10_000;

/** Jitter spreads the retries of calls that failed at the same time. */
const jittered = (ms: number): Millis => millis(ms * (0.5 + Math.random()));

export const unreachedRestMs = (): Millis => jittered(UNREACHED_MS);

/**
 * Pause in which engines that failed a call are closed to it: until another is expected back, if that is soon.
 * @param attempts attempts of the call so far
 * @param backInMs time until the next engine that is out of service returns, if it is healthy
 */
export function pauseMs(attempts: number, backInMs: number): Millis {
  const backoff = jittered(Math.min(PAUSE_MS_MAX, PAUSE_MS * 2 ** (attempts - 1)));
  return backInMs > BACK_MS_MAX ? backoff : millis(Math.max(backoff, backInMs));
}
