import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Batch, loadOf, weightOf } from '../../../src/engines/batch.js';

const call = fc.record({
  promptTokens: fc.nat(10_000),
  restMs: fc.nat(200_000),
  areaAtStart: fc.constant(0),
});

it('weighs a call by the inverse of the service that its program still needs, at most 1 a millisecond', () => {
  expect([0, 1, 50, 1_000].map((restMs) => weightOf({ restMs }))).toEqual([1, 1, 1 / 50, 1 / 1_000]);
});

it('weighs the calls in flight, and nothing once they have ended', () => {
  fc.assert(
    fc.property(fc.array(call, { minLength: 1, maxLength: 20 }), fc.nat(19), (calls, kept) => {
      const [batch, rest] = [new Batch(), new Batch()];
      for (const each of calls) batch.add(each, 0);
      for (const each of calls.slice(kept)) rest.add(each, 0);
      for (const each of calls.slice(0, kept)) batch.remove(each, 0);
      expect(batch.weight).toBeCloseTo(rest.weight, 9);
      expect(rest.weight).toBeCloseTo(
        calls.slice(kept).reduce((sum, each) => sum + weightOf(each), 0),
        9,
      );
      for (const each of calls.slice(kept)) batch.remove(each, 0);
      expect(batch.weight).toBe(0);
      expect(batch.loadTokens).toBe(0);
    }),
  );
});

it('loads a step with each context and the call’s place, and counts it from then on', () => {
  const own = { promptTokens: 872, restMs: 0, areaAtStart: 0 };
  expect(loadOf(own)).toBe(1_000);
  const batch = new Batch();
  batch.add(own, 0);
  batch.share(500, 0, 10);
  batch.remove(own, 30);
  expect(batch.areaTokenMs(40)).toBe(10 * 1_000 + 20 * 1_500 + 10 * 500);
  expect([batch.loadTokens, batch.ownTokens]).toEqual([500, 0]);
});
