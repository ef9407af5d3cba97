import { expect, it } from 'vitest';
import { Work } from '../../../sidecar/batches/work.js';

it('tells when a batch will be done once three lines have ended, as if those under way were half done', () => {
  let nowMs = 5_000;
  const counts = { total: 102, completed: 2, failed: 0 };
  const run = { inFlight: 4, results: { counts, failures: [] }, input: { models: new Map(), warnings: [] } };
  const shelf = { batches: new Map([['batch', { created_at: 0, expires_at: 86_400 }]]) };
  const ports = { now: () => nowMs, unserved: () => undefined };
  // Two had ended when it was taken up.
  const work = new Work(shelf as unknown as Work['shelf'], 'batch', run as unknown as Work['run'], ports);
  nowMs += 1_000;
  counts.completed += 2;
  expect(work.restMs).toBeUndefined();
  counts.failed += 1;
  const restMs = ((97 - 2) * 1_000) / (3 + 2);
  expect([work.restMs, work.view]).toEqual([restMs, expect.objectContaining({ restMs, stillMs: 0 })]);
  // Nobody is told of a pace that it has kept no longer.
  for (let seconds = 0; seconds < 12; seconds += 1) {
    nowMs += 1_000;
    work.passed(1_000, false);
  }
  expect([work.restMs, work.view]).toEqual([
    13 * restMs,
    expect.objectContaining({ restMs: undefined, stillMs: 11_000 }),
  ]);
  counts.completed += 1;
  work.passed(1_000, false);
  expect(work.view).toMatchObject({ restMs: work.restMs, stillMs: 0 });
});
