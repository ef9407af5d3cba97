import { expect, it } from 'vitest';
import { Work } from '../../../sidecar/batches/work.js';

it('tells when a batch will be done once three lines have ended, as if those under way were half done', () => {
  let nowMs = 5_000;
  const counts = { total: 102, completed: 2, failed: 0 };
  const run = { inFlight: 4, results: { counts }, input: { models: new Map() } };
  const ports = { now: () => nowMs, unserved: () => undefined };
  // Two had ended when it was taken up.
  const work = new Work(null as unknown as Work['shelf'], 'batch', run as unknown as Work['run'], ports);
  nowMs += 1_000;
  counts.completed += 2;
  expect(work.restMs).toBeUndefined();
  counts.failed += 1;
  expect(work.restMs).toBe(((97 - 2) * 1_000) / (3 + 2));
});
