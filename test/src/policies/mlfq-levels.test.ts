import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MlfqLevels } from '../../../src/policies/mlfq-levels.js';

describe('Levels', () => {
  const levels = new MlfqLevels({ levels: 4, firstQuantumMs: 1_000, quantumRatio: 2 });

  it('cuts attained service into ranges [lo, hi), the first from 0 and the last without end', () => {
    const services = [0, 999.9, 1_000, 1_999, 2_000, 3_999.9, 4_000, 1e12];
    expect(services.map((service) => levels.of(service))).toEqual([0, 0, 1, 1, 2, 2, 3, 3]);
  });

  it('holds any service whatever in one of its queues, also one that is no number', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 40 }),
        fc.double({ min: 1e-3, max: 1e9, noNaN: true }),
        fc.double({ min: 1, max: 100, noNaN: true }),
        fc.oneof(fc.double(), fc.constantFrom(NaN, Infinity, -Infinity)),
        (count, firstQuantumMs, quantumRatio, serviceMs) => {
          const level = new MlfqLevels({ levels: count, firstQuantumMs, quantumRatio }).of(serviceMs);
          expect(Number.isInteger(level) && level >= 0 && level < count).toBe(true);
        },
      ),
    );
  });

  it('holds any service in its only queue', () => {
    expect(new MlfqLevels({ levels: 1, firstQuantumMs: 5, quantumRatio: 2 }).of(1e9)).toBe(0);
  });
});
