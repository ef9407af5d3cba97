import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Batch } from '../../../src/engines/batch.js';

const index = { of: (kind: number) => 1 / (kind + 1) };
const call = fc.record({
  promptTokens: fc.nat(10_000),
  serviceAtArrivalMs: fc.nat(100_000),
  expectedTotalMs: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 200_000 })),
  areaAtStart: fc.constant(0),
});

it('weighs calls by what their programs declare to be left, others by attained service', () => {
  const batch = new Batch();
  batch.add({ promptTokens: 0, serviceAtArrivalMs: 100, expectedTotalMs: 150, areaAtStart: 0 }, 0);
  expect(batch.weight(index)).toBe(1 / 50);
  // A program that has outrun its declaration has little left, and not less than nothing.
  batch.add({ promptTokens: 0, serviceAtArrivalMs: 100, expectedTotalMs: 90, areaAtStart: 0 }, 0);
  expect(batch.weight(index)).toBe(1 / 50 + 1);
  batch.add({ promptTokens: 0, serviceAtArrivalMs: 0, expectedTotalMs: 0, areaAtStart: 0 }, 0);
  expect(batch.weight(index)).toBe(1 / 50 + 1 + 1);
});

it('weighs the calls in flight, and nothing once they have ended', () => {
  fc.assert(
    fc.property(fc.array(call, { minLength: 1, maxLength: 20 }), fc.nat(19), (calls, kept) => {
      const [batch, rest] = [new Batch(), new Batch()];
      for (const each of calls) batch.add(each, 0);
      for (const each of calls.slice(kept)) rest.add(each, 0);
      for (const each of calls.slice(0, kept)) batch.remove(each, 0);
      expect(batch.weight(index)).toBeCloseTo(rest.weight(index), 9);
      for (const each of calls.slice(kept)) batch.remove(each, 0);
      expect(batch.weight(index)).toBe(0);
      expect(batch.loadTokens).toBe(0);
    }),
  );
});
