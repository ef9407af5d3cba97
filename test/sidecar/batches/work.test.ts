import { expect, it } from 'vitest';
import { Work } from '../../../sidecar/batches/work.js';

it('tells when a batch will be done once more lines have ended than run: before, engines take in more and more', () => {
  let nowMs = 5_000;
  const counts = { total: 102, completed: 2, failed: 0 };
  const run = { inFlight: 4, results: { counts }, input: { models: new Map() } };
  const ports = { now: () => nowMs, unserved: () => undefined };
  // Two had ended when it was taken up.
  const work = new Work(null as unknown as Work['shelf'], 'batch', run as unknown as Work['run'], ports);
  nowMs += 1_000;
  counts.completed += 4;
  expect(work.restMs).toBeUndefined();
  counts.failed += 1;
  expect(work.restMs).toBe((95 * 1_000) / 5);
});
