import type { Dispatch, WaitView } from '../../src/index.js';

/** Comments in the stream of a call, for people who watch it: `name=value` pairs, which clients skip. */

export function dispatchedComment({ engine, level, reason }: Dispatch): string {
  return `dispatched engine=${engine} level=${level} reason=${reason}`;
}

/**
 * Other tenants' calls are counted, never named.
 * @param waiting number of waiting calls
 * @param wait undefined: not known
 */
export function queuedComment(waitedMs: number, waiting: number, wait: WaitView | undefined): string {
  const begin = `queued waited_ms=${Math.round(waitedMs)} waiting=${waiting}`;
  if (wait === undefined) return begin;
  const { level, cause, engine, needs, free, limit, ahead, oldestAhead, expectedMs } = wait;
  const where = engine === undefined ? '' : ` engine=${engine}`;
  const figures = needs === undefined ? '' : ` needs=${needs} free=${free} limit=${limit}`;
  const oldest = oldestAhead === undefined ? '' : ` oldest_ahead_ms=${Math.round(oldestAhead.waitingMs)}`;
  const expected = expectedMs === undefined ? '' : ` expected_ms=${Math.round(expectedMs)}`;
  return `${begin} level=${level} cause=${cause}${where}${figures} ahead=${ahead}${oldest}${expected}`;
}
