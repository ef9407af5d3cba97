import { millis, type Millis, type Reject } from '../../src/index.js';
import type { Fleet } from '../engines/index.js';
import { GatewayError } from '../errors.js';
import { noEngine } from '../unscheduled/models.js';
import type { Outcome } from './spec.js';

/** Time after which a client that was refused for lack of room should retry. */
export const RETRY_AFTER = { retryAfterSeconds: 1 };

/** Refusals after which a retry keeps the call's place. */
export const KEEPS_PLACE: ReadonlySet<Reject['refusal']> = new Set(['queue_timeout', 'queue_full', 'no_engine']);

/** The client's error when the scheduler refuses its call. @param failure failure of its last attempt */
export function refusalError(
  { refusal, retryAfterMs }: Reject,
  failure: GatewayError | undefined,
  fleet: Pick<Fleet, 'list'>,
): GatewayError {
  const retry = retryAfterMs === undefined ? RETRY_AFTER : { retryAfterSeconds: Math.max(1, retryAfterMs / 1000) };
  switch (refusal) {
    case 'queue_full':
      return new GatewayError('queue_full', 'Too many calls are waiting.', retry);
    case 'overloaded':
      return new GatewayError('overloaded', 'More calls wait than could be served in time.', retry);
    case 'queue_timeout':
      // The call's place is kept, so a prompt retry is best.
      return new GatewayError('queue_timeout', 'The call has waited too long; a retry keeps its place.', retry);
    case 'no_engine':
      return noEngine(fleet);
    case 'attempts_exhausted':
      return failure ?? new GatewayError('engine_failed', 'The engines failed.');
    default:
      return refusal satisfies never;
  }
}

export const outcomeOf = (error: GatewayError): Outcome =>
  error.status === 408 || error.status === 504 ? 'timed_out' : 'engine_error';

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
 * Pause during which engines that failed a call are closed to it. It lasts until another engine is expected back, if
 * that is soon.
 * @param attempts attempts of the call so far
 * @param backInMs time until the next engine that is out of service returns, if it is healthy
 */
export function pauseMs(attempts: number, backInMs: number): Millis {
  const backoff = jittered(Math.min(PAUSE_MS_MAX, PAUSE_MS * 2 ** (attempts - 1)));
  return backInMs > BACK_MS_MAX ? backoff : millis(Math.max(backoff, backInMs));
}
