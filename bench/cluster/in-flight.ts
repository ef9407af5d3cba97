import type { CallRecord } from '../../sim/index.js';

/** Most calls that one engine ran at once. Ends make room before anything begins. */
export function mostInFlight(calls: readonly CallRecord[]): number {
  const changes = calls
    .flatMap(({ engine, dispatchedMs, endedMs }) => [
      { engine, atMs: dispatchedMs, by: 1 },
      { engine, atMs: endedMs, by: -1 },
    ])
    .sort((a, b) => a.atMs - b.atMs || a.by - b.by);
  const inFlight = new Map<string | undefined, number>();
  let most = 0;
  for (const { engine, by } of changes) {
    const now = (inFlight.get(engine) ?? 0) + by;
    inFlight.set(engine, now);
    most = Math.max(most, now);
  }
  return most;
}
