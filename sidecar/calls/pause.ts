import { millis, type Millis } from '../../src/index.js';

/** Rest of an unreachable engine. */
const UNREACHED_MS = 250;
/** First pause before a call returns to an engine that failed it; doubles with each attempt. */
const PAUSE_MS = 100;
const PAUSE_MS_MAX = 5000;
/** Upper bound on the pause: by then an ejected engine has been probed. */
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
