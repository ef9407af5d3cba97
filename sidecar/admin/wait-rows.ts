import type {
  Dispatch,
  ObstacleView,
  ProgramView,
  TenantView,
  ThreadView,
  WaitView,
  WaitingCall,
} from '../../src/index.js';
import type { Program } from './answers.js';

/** Waiting calls and their causes, in admin answers. */

/** A limit in tokens; null: none. */
export const limitOf = (tokens = Infinity): number | null => (tokens === Infinity ? null : Math.floor(tokens));

export const secondsOr = (ms: number | null | undefined): number | null =>
  ms === null || ms === undefined ? null : seconds(ms);

export const seconds = (ms: number): number => Math.round(ms) / 1000;

/** Seconds until a time; null: never. */
export const inSeconds = (atMs: number | undefined, now: number): number | null =>
  atMs === undefined ? null : seconds(Math.max(0, atMs - now));

export function programState({ threads }: ProgramView): Program['state'] {
  if (threads.length === 0) return 'idle';
  return threads.some(({ state }) => state === 'running') ? 'running' : 'waiting';
}

/** The call that waits longest now. */
export const longestWaiting = ({ threads }: ProgramView): ThreadView | undefined =>
  threads.reduce<ThreadView | undefined>((longest, call) => {
    if (call.state !== 'waiting') return longest;
    return longest === undefined || call.waitingMs > longest.waitingMs ? call : longest;
  }, undefined);

export const currentWaitMs = (row: ProgramView): number => longestWaiting(row)?.waitingMs ?? 0;

export function waitRow(wait: WaitView, now: number) {
  const { ahead, oldestAhead, expectedMs } = wait;
  const expected_seconds = expectedMs === undefined ? null : seconds(expectedMs);
  return { ...obstacleRow(wait, now), ahead, oldest_ahead: waitingRow(oldestAhead), expected_seconds };
}

export function obstacleRow({ cause, engine, needs, free, limit, behind, untilMs }: ObstacleView, now: number) {
  return {
    cause,
    engine: engine ?? null,
    /** Calls for `window` and `probation`, tokens for `kv`; null: the cause has none. */
    needs: needs ?? null,
    free: free ?? null,
    limit: limit ?? null,
    behind: waitingRow(behind),
    ends_in_seconds: inSeconds(untilMs, now),
  };
}

function waitingRow(waiting: WaitingCall | undefined) {
  if (waiting === undefined) return null;
  return { call: waiting.call, program: waiting.program, waiting_seconds: seconds(waiting.waitingMs) };
}

export function shareRow({ tenant, weight, waiting, inFlight, attainedShare, dueShare }: TenantView) {
  const [attained_share, due_share] = [rounded(attainedShare), dueShare === undefined ? null : rounded(dueShare)];
  return { tenant, weight, waiting, in_flight: inFlight, attained_share, due_share };
}

const rounded = (share: number): number => Math.round(10_000 * share) / 10_000;

export function dispatchRow({ engine, level, queueMs, reason, placement }: Dispatch) {
  return { engine, placement, reason, level, queue_seconds: seconds(queueMs) };
}
