import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bootstrapRatio, pairedRatio, type Pair } from '../../../lab/measure/comparison.js';
import { Dice } from '../../../workloads/dice.js';

const positive = fc.double({ min: 0.01, max: 1e4, noNaN: true });
const pairs = fc.array(fc.tuple(positive, positive), { minLength: 2, maxLength: 30 });
const meanOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Pairs of which the second is the first times `ratio`, but for noise. */
function noisyPairs(count: number, ratio: number, seed: number): Pair[] {
  const dice = new Dice(seed);
  return Array.from({ length: count }, () => {
    const first = 100 + 10 * dice.normal();
    return [first, ratio * first * (1 + 0.1 * dice.normal())];
  });
}

describe('the ratio of paired means', () => {
  it('is that of the means, inside its interval', () => {
    fc.assert(
      fc.property(pairs, (given) => {
        const { ratio, low, high } = pairedRatio(given);
        expect(ratio).toBeCloseTo(meanOf(given.map(([, other]) => other)) / meanOf(given.map(([first]) => first)), 9);
        expect(low!).toBeLessThanOrEqual(ratio! * (1 + 1e-12));
        expect(high!).toBeGreaterThanOrEqual(ratio! * (1 - 1e-12));
      }),
    );
  });

  it('is turned about when the two are', () => {
    fc.assert(
      fc.property(pairs, (given) => {
        const one = pairedRatio(given);
        const other = pairedRatio(given.map(([a, b]) => [b, a] as const));
        expect(other.ratio! * one.ratio!).toBeCloseTo(1, 6);
        expect(other.low! * one.high!).toBeCloseTo(1, 6);
      }),
    );
  });

  it('knows no doubt where every pair has the same ratio, and none where they are alike', () => {
    const { ratio, low, high, pairs: count } = pairedRatio([[10, 5], [20, 10], [30, 15]]); // prettier-ignore
    expect([ratio, low, high, count]).toEqual([0.5, 0.5, 0.5, 3]);
  });

  it('follows from figures reckoned by hand', () => {
    // Means 10 and 8; residuals 9 - 0.8 x 10 = 1 and 7 - 8 = -1; deviation sqrt(2 / 1 / 2) / 8 = 1/8; t(1) = 12.706.
    const { ratio, low, high } = pairedRatio([[10, 9], [10, 7]]); // prettier-ignore
    expect(ratio).toBeCloseTo(0.8, 12);
    expect(low).toBeCloseTo(0.8 / Math.exp(12.706 / 8), 9);
    expect(high).toBeCloseTo(0.8 * Math.exp(12.706 / 8), 9);
  });

  it.each([3, 10, 40])('holds the truth in about 95 of 100 comparisons of %d pairs', (count) => {
    let held = 0;
    for (let seed = 0; seed < 1000; seed += 1) {
      const { low, high } = pairedRatio(noisyPairs(count, 0.6, seed));
      if (low! <= 0.6 && high! >= 0.6) held += 1;
    }
    expect(held).toBeGreaterThan(925);
    expect(held).toBeLessThan(975);
  });

  it('has no interval for one pair, and no ratio to nothing', () => {
    expect(pairedRatio([[10, 5]])).toEqual({ ratio: 0.5, low: null, high: null, pairs: 1 });
    expect(pairedRatio([])).toEqual({ ratio: null, low: null, high: null, pairs: 0 });
    expect(pairedRatio([[0, 5], [0, 6]])).toEqual({ ratio: null, low: null, high: null, pairs: 2 }); // prettier-ignore
    expect(pairedRatio([[5, 0], [6, 0]])).toEqual({ ratio: 0, low: null, high: null, pairs: 2 }); // prettier-ignore
  });
});

describe('the bootstrap of a ratio', () => {
  it('agrees with the other interval on the mean of many pairs', () => {
    const given = noisyPairs(400, 0.6, 1);
    const [one, other] = [pairedRatio(given), bootstrapRatio(given, meanOf, { seed: 2 })];
    expect(other.ratio).toBeCloseTo(one.ratio!, 12);
    expect(other.low! / one.low!).toBeCloseTo(1, 2);
    expect(other.high! / one.high!).toBeCloseTo(1, 2);
  });

  it('takes any statistic, and gives the same for the same seed', () => {
    const given = noisyPairs(50, 0.6, 1);
    const most = (values: readonly number[]) => Math.max(...values);
    const found = bootstrapRatio(given, most, { seed: 2, rounds: 200 });
    expect(found.ratio).toBe(most(given.map(([, other]) => other)) / most(given.map(([first]) => first)));
    expect(found).toEqual(bootstrapRatio(given, most, { seed: 2, rounds: 200 }));
    expect(found).not.toEqual(bootstrapRatio(given, most, { seed: 3, rounds: 200 }));
  });

  it('of one pair has no interval, and of none no ratio', () => {
    expect(bootstrapRatio([[2, 1]], meanOf, { seed: 1 })).toEqual({ ratio: 0.5, low: null, high: null, pairs: 1 });
    expect(bootstrapRatio([], meanOf, { seed: 1 })).toEqual({ ratio: null, low: null, high: null, pairs: 0 });
  });
});
