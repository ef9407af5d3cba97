import type { Reject } from '../../src/index.js';
import { GatewayError } from '../errors.js';
import { noEngine } from '../models.js';
import type { Outcome } from './ports.js';

/** What a client is told to wait that was refused for want of room. */
export const RETRY_AFTER = { retryAfterSeconds: 1 };

/** Refusals after which a retry takes the call's place. */
export const KEEPS_PLACE: ReadonlySet<Reject['refusal']> = new Set(['queue_timeout', 'queue_full', 'no_engine']);

/** What a client hears whose call the scheduler refused. @param failure why its last attempt failed */
export function refusalError({ refusal, retryAfterMs }: Reject, failure: GatewayError | undefined): GatewayError {
  const retry = retryAfterMs === undefined ? RETRY_AFTER : { retryAfterSeconds: Math.max(1, retryAfterMs / 1000) };
  switch (refusal) {
    case 'queue_full':
      return new GatewayError('queue_full', 'Too many calls are waiting.', retry);
    case 'overloaded':
      return new GatewayError('overloaded', 'More calls wait than could be served in time.', retry);
    case 'queue_timeout':
      // Its place is kept for it: the sooner it is back, the better.
      return new GatewayError('queue_timeout', 'The call has waited too long; a retry keeps its place.', retry);
    case 'no_engine':
      return noEngine();
    case 'attempts_exhausted':
      return failure ?? new GatewayError('engine_failed', 'The engines failed.');
    default:
      return refusal satisfies never;
  }
}

export function outcomeOf(error: GatewayError): Outcome {
  return error.status === 408 || error.status === 504 ? 'timed_out' : 'engine_error';
}

/** What a client hears whose stream has been opened by comments, when its engine answers without a stream. */
export function unstreamable(status: number, body: Buffer): GatewayError {
  if (status < 400) return new GatewayError('engine_answer_invalid', 'The engine answered without a stream.');
  return new GatewayError(
    'bad_request',
    `The engine refused the request (${status}): ${body.toString('utf8', 0, 500)}`,
  );
}
