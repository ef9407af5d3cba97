import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DrainRate } from '../../../src/queues/drain-rate.js';

describe('the drain rate', () => {
  /** Spells of some calls each, 100 ms a call while others wait, after idle times. */
  function afterSpells(idleMs: readonly number[], callsEach: number): number | undefined {
    const rate = new DrainRate();
    let nowMs = 0;
    for (const pauseMs of idleMs) {
      nowMs += pauseMs;
      for (let call = 1; call <= callsEach; call += 1) {
        // The last call of a spell runs alone.
        nowMs += call < callsEach ? 100 : 7_000;
        rate.completed(call < callsEach, nowMs);
      }
    }
    rate.completed(true, (nowMs += 100));
    return rate.msPerCall(nowMs);
  }

  it('is the time between completions while calls wait: idle times and calls that leave none waiting do not count', () => {
    const spells = fc.array(fc.integer({ min: 0, max: 100_000 }), { minLength: 70, maxLength: 90 });
    const property = fc.property(spells, fc.integer({ min: 3, max: 20 }), (idleMs, callsEach) => {
      expect(afterSpells(idleMs, callsEach)).toBeCloseTo(100, 6);
    });
    fc.assert(property, { numRuns: 50 });
  });

  it('is unknown until enough calls have ended, long after they did, and for other engines', () => {
    expect(afterSpells([0], 64)).toBeUndefined();
    const rate = new DrainRate();
    for (let call = 0; call <= 64; call += 1) rate.completed(true, 100 * call);
    expect(rate.msPerCall(6_400)).toBe(100);
    expect(rate.msPerCall(6_400 + 600_000)).toBe(100);
    expect(rate.msPerCall(6_401 + 600_000)).toBeUndefined();
    // Nor is the first completion after it the end of a gap that counts.
    rate.completed(true, 6_401 + 600_000);
    expect(rate.msPerCall(6_401 + 600_000)).toBeUndefined();
    for (let call = 1; call <= 64; call += 1) rate.completed(true, 700_000 + 10 * call);
    rate.reset();
    expect(rate.msPerCall(700_640)).toBeUndefined();
  });
});
