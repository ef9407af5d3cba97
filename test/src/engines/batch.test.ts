import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Batch, loadOf, weightOf } from '../../../src/engines/batch.js';

const index = { hazardIndexOf: (kind: number) => 1 / (kind + 1) };
const call = fc.record({
  promptTokens: fc.nat(10_000),
  serviceAtArrivalMs: fc.nat(100_000),
  expectedTotalMs: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 200_000 })),
  areaAtStart: fc.constant(0),
});

it('weighs a call by attained service, and more if its program declares that little is left', () => {
  const falling = { hazardIndexOf: (kind: number) => 1 / (100 * (kind + 1)) };
  const weight = (serviceAtArrivalMs: number, expectedTotalMs: number) =>
    weightOf({ serviceAtArrivalMs, expectedTotalMs }, falling);
  const attained = weight(1000, 0);
  expect(attained).toBe(1 / 1100);
  expect(weight(1000, 1050)).toBe(1 / 50);
  expect(weight(1000, 100_000)).toBe(attained);
  // It has outrun its declaration: little is left, and not less than nothing.
  expect(weight(1000, 900)).toBe(1);
});

it('weighs the calls in flight, and nothing once they have ended', () => {
  fc.assert(
    fc.property(fc.array(call, { minLength: 1, maxLength: 20 }), fc.nat(19), (calls, kept) => {
      const [batch, rest] = [new Batch(), new Batch()];
      for (const each of calls) batch.add(each, 0);
      for (const each of calls.slice(kept)) rest.add(each, 0);
      for (const each of calls.slice(0, kept)) batch.remove(each, 0);
      expect(batch.weight(index)).toBeCloseTo(rest.weight(index), 9);
      expect(rest.weight(index)).toBeCloseTo(
        calls.slice(kept).reduce((sum, each) => sum + weightOf(each, index), 0),
        9,
      );
      for (const each of calls.slice(kept)) batch.remove(each, 0);
      expect(batch.weight(index)).toBe(0);
      expect(batch.loadTokens).toBe(0);
    }),
  );
});

it('loads a step with each context and the call’s place, and counts it from then on', () => {
  const own = { promptTokens: 872, serviceAtArrivalMs: 0, expectedTotalMs: 0, areaAtStart: 0 };
  expect(loadOf(own)).toBe(1_000);
  const batch = new Batch();
  batch.add(own, 0);
  batch.share(500, 0, 10);
  batch.remove(own, 30);
  expect(batch.areaTokenMs(40)).toBe(10 * 1_000 + 20 * 1_500 + 10 * 500);
  expect([batch.loadTokens, batch.ownTokens]).toEqual([500, 0]);
});
