import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MARGIN, moreOf, pairedRatio, type Pair, verdictOf } from '../../../lab/measure/comparison.js';
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

  it('knows no doubt where every pair has the same ratio, and none where they are alike', () => {
    expect(
      pairedRatio([
        [10, 5],
        [20, 10],
        [30, 15],
      ]),
    ).toEqual({ ratio: 0.5, low: 0.5, high: 0.5, pairs: 3 });
  });

  it('follows from figures reckoned by hand', () => {
    // Means 10 and 8; residuals 9 - 0.8 x 10 = 1 and 7 - 8 = -1; deviation sqrt(2 / 1 / 2) / 8 = 1/8; t(1) = 12.706.
    const { ratio, low, high } = pairedRatio([
      [10, 9],
      [10, 7],
    ]);
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
    expect(Math.abs(held - 950)).toBeLessThan(25);
  });

  it('has no interval for one pair, and no ratio to nothing', () => {
    expect(pairedRatio([[10, 5]])).toEqual({ ratio: 0.5, low: null, high: null, pairs: 1 });
    expect(pairedRatio([])).toEqual({ ratio: null, low: null, high: null, pairs: 0 });
    expect(
      pairedRatio([
        [0, 5],
        [0, 6],
      ]),
    ).toEqual({ ratio: null, low: null, high: null, pairs: 2 });
    expect(
      pairedRatio([
        [5, 0],
        [6, 0],
      ]),
    ).toEqual({ ratio: 0, low: null, high: null, pairs: 2 });
  });
});

describe('the repetitions that would tell', () => {
  it.each([
    ['runs', { ratio: 1, low: 0.979, high: 1.028, pairs: 3 }, undefined, 'no difference above 3 %'],
    ['seeds', { ratio: 1, low: 0.951, high: 1.04, pairs: 8 }, undefined, 'no difference above 5 %'],
    ['runs', { ratio: 1, low: 0.93, high: 1.07, pairs: 3 }, 8, 'too few runs to tell'],
    ['seeds', { ratio: 1, low: 0.93, high: 1.07, pairs: 3 }, 16, 'too few seeds to tell'],
    ['runs', { ratio: 1, low: 0.93, high: 1.07, pairs: 8 }, undefined, 'treat them as equal'],
    // Of so many runs nobody should be asked.
    ['runs', { ratio: 1.07, low: 0.81, high: 1.41, pairs: 3 }, 8, 'too few runs to tell'],
    ['seeds', { ratio: 1.07, low: 0.81, high: 1.41, pairs: 3 }, 45, 'about 45 seeds would tell'],
    ['runs', { ratio: 1.1, low: 0.96, high: 1.26, pairs: 3 }, 7, 'about 7 runs would tell'],
    ['runs', { ratio: 1.04, low: null, high: null, pairs: 1 }, 8, 'too few runs to tell'],
  ])('of %s are few, and none where %j is narrow', (repeated, ratio, count, text) => {
    expect(moreOf(ratio, MARGIN, repeated)).toMatchObject({ text, ...(count !== undefined && { count }) });
    expect(moreOf(ratio, MARGIN, repeated).count).toBe(count);
  });
});

describe('the verdict on a ratio', () => {
  const verdict = (pairs: readonly Pair[]) => verdictOf(pairedRatio(pairs), MARGIN);

  it('finds no winner among equals, however their runs vary, but a real difference', () => {
    for (const spread of [0, 0.002, 0.01, 0.05]) {
      const dice = new Dice(7);
      const noise = () => 100 * (1 + spread * dice.normal());
      const run = (ratio: number): Pair => [noise(), ratio * noise()];
      const verdicts = (ratio: number) =>
        Array.from({ length: 200 }, () => verdict([run(ratio), run(ratio), run(ratio)]));
      const won = verdicts(1).filter((each) => each === 'sooner' || each === 'later').length;
      expect(won).toBeLessThanOrEqual(spread < 0.01 ? 0 : 8);
      if (spread <= 0.01) expect(verdicts(0.5).every((each) => each === 'sooner')).toBe(true);
      if (spread < 0.01) expect(verdicts(1).every((each) => each === 'same')).toBe(true);
    }
  });
});
