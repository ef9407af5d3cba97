import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Reservoir, Sample } from '../../../lab/measure/sample.js';

const values = fc.array(fc.double({ min: -1e6, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 200 });

function sampleOf(numbers: readonly number[], keptMax?: number): Sample {
  const sample = new Sample(1, keptMax);
  for (const value of numbers) sample.add(value);
  return sample;
}

/** By its definition: the least of the values that at least so many in a hundred are not above. */
function slowPercentile(numbers: readonly number[], percent: number): number {
  const enough = numbers.filter(
    (candidate) => 100 * numbers.filter((value) => value <= candidate).length >= percent * numbers.length,
  );
  return Math.min(...enough);
}

describe('a sample', () => {
  it('tells what a slow count of all values tells, while it keeps them; of few of them its mean and maximum are exact', () => {
    const kept = fc.constantFrom(undefined, 1, 5, 20);
    fc.assert(
      fc.property(values, fc.integer({ min: 0, max: 100 }), kept, (numbers, percent, keptMax) => {
        const sample = sampleOf(numbers, keptMax);
        expect(sample.mean).toBeCloseTo(numbers.reduce((sum, value) => sum + value, 0) / numbers.length, 6);
        expect([sample.count, sample.max]).toEqual([numbers.length, Math.max(...numbers)]);
        if (keptMax === undefined) expect(sample.percentile(percent / 100)).toBe(slowPercentile(numbers, percent));
        else expect(numbers).toContain(sample.percentile(percent / 100));
      }),
    );
  });

  it('of nothing tells nothing', () => {
    expect(new Sample(0).distribution()).toEqual({ count: 0, mean: null, p50: null, p95: null, p99: null, max: null });
  });

  it.each([NaN, Infinity, -Infinity])('refuses %s', (value) => {
    expect(() => sampleOf([1, value])).toThrow(RangeError);
  });
});

describe("Jain's index", () => {
  it.each([
    [[2, 2, 2], 1],
    [[1, 0, 0, 0], 0.25],
    [[1, 2, 3], 36 / 42],
  ])('of %j is %d', (numbers, index) => {
    expect(sampleOf(numbers).fairness).toBeCloseTo(index, 12);
  });
});

describe('a reservoir', () => {
  const keptOf = (seed: number, items: number) => {
    const reservoir = new Reservoir<number>(seed, 5);
    for (let item = 0; item < items; item += 1) reservoir.add(item);
    return reservoir.kept;
  };

  it('keeps each item of a long stream as often as any other', () => {
    const kept = new Array<number>(50).fill(0);
    const rounds = 4000;
    for (let seed = 0; seed < rounds; seed += 1) for (const item of keptOf(seed, kept.length)) kept[item]! += 1;
    // Chi-square of 49 degrees of freedom is below 94.6 but once in ten thousand.
    const expected = (rounds * 5) / kept.length;
    expect(kept.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0)).toBeLessThan(94.6);
  });

  it('keeps the same for the same seed', () => {
    expect(keptOf(3, 100)).toEqual(keptOf(3, 100));
    expect(keptOf(3, 100)).not.toEqual(keptOf(4, 100));
  });
});

it('a percentile that was asked for before more values came counts them too', () => {
  const sample = sampleOf([1, 2, 3]);
  expect(sample.percentile(1)).toBe(3);
  sample.add(9);
  expect(sample.percentile(1)).toBe(9);
});
