import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LEVELS, levelOf } from '../../../src/policies/mlfq-levels.js';

describe('levels', () => {
  it('cut service into ranges [lo, hi), the first from 0, each twice as wide, and the last without end', () => {
    const services = [0, 999.9, 1_000, 1_999, 2_000, 3_999.9, 4_000, 4_095_999, 4_096_000, 1e12];
    expect(services.map((service) => levelOf(service, 1_000))).toEqual([0, 0, 1, 1, 2, 2, 3, 12, 13, 13]);
  });

  it('hold any service whatever, also one that is no number', () => {
    const quantum = fc.double({ min: 1e-3, max: 1e9, noNaN: true });
    const service = fc.oneof(fc.double(), fc.constantFrom(NaN, Infinity, -Infinity));
    const property = fc.property(quantum, service, (firstQuantumMs, serviceMs) => {
      const level = levelOf(serviceMs, firstQuantumMs);
      expect(Number.isInteger(level) && level >= 0 && level < LEVELS).toBe(true);
    });
    fc.assert(property);
  });
});
