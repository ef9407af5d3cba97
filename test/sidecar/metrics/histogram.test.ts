import fc from 'fast-check';
import { Histogram as Reference, Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { Histogram } from '../../../sidecar/metrics/histogram.js';

const BOUNDS = [0.001, 0.25, 1, 1000];

it('prints what prom-client prints for the same values', async () => {
  const value = fc.oneof(fc.constantFrom(...BOUNDS, 0), fc.double({ min: 0, max: 2000, noNaN: true }));
  const observations = fc.array(fc.tuple(value, fc.nat(2)), { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(observations, fc.boolean(), async (observed, isLabelled) => {
      const [ours, theirs] = [new Registry(), new Registry()];
      const own = new Histogram(ours, 'a_seconds', 'Help.', BOUNDS, isLabelled ? 'level' : undefined);
      const labelNames = isLabelled ? ['level'] : [];
      const settings = { name: 'a_seconds', help: 'Help.', buckets: BOUNDS, registers: [theirs], labelNames };
      const reference = new Reference(settings);
      for (const [seconds, level] of observed) {
        if (isLabelled) {
          own.observe(seconds, level);
          reference.observe({ level }, seconds);
        } else {
          own.observe(seconds);
          reference.observe(seconds);
        }
      }
      expect(await ours.metrics()).toBe(await theirs.metrics());
    }),
    { numRuns: 200, seed: 7 },
  );
});
