import { millis, type Millis } from '../../src/index.js';

/** Rest of an engine that could not be reached. */
const UNREACHED_MS = 250;
/** First pause of a call before it goes again to an engine that failed it; doubles. */
const PAUSE_MS = 100;
const PAUSE_MS_MAX = 5000;
/** Longest wait for an engine that is out of service and about to be probed. */
const BACK_MS_MAX = 10_000;

/** Clients that were failed at the same time do not come back at the same time. */
const jittered = (ms: number): Millis => millis(ms * (0.5 + Math.random()));

export const unreachedRestMs = (): Millis => jittered(UNREACHED_MS);

/**
 * How long engines that failed a call are closed to it: until another is expected back, if that is soon.
 * @param attempts of the call so far
 * @param backInMs until the next engine that is out of service is back, if it is well
 */
export function pauseMs(attempts: number, backInMs: number): Millis {
  const backoff = jittered(Math.min(PAUSE_MS_MAX, PAUSE_MS * 2 ** (attempts - 1)));
  return backInMs > BACK_MS_MAX ? backoff : millis(Math.max(backoff, backInMs));
}
