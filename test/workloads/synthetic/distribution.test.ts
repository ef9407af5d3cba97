import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { Dice } from '../../../workloads/dice.js';
import {
  distribution,
  draw,
  drawWhole,
  largest,
  type DistributionInput,
} from '../../../workloads/synthetic/distribution.js';
import { spreadOf } from '../../support/workload-figures.js';

const schema = distribution(1, 1000);
const draws = (given: DistributionInput, count = 20_000, of = draw) => {
  const dice = new Dice(5);
  const from = schema.parse(given);
  return Array.from({ length: count }, () => of(from, dice));
};

const all = (value: number) => ({ mean: value, median: value, p95: value });
const constant = (value: number) => ({ dist: 'constant' as const, value });
const uniform = (min: number, max: number) => ({ dist: 'uniform' as const, min, max });
const logNormal = (median: number, p95: number) => ({ dist: 'log-normal' as const, median, p95, max: 1000 });
const gamma = (mean: number, cv: number) => ({ dist: 'gamma' as const, mean, cv, max: 1000 });
const geometric = (mean: number) => ({ dist: 'geometric' as const, mean, max: 1000 });
const quantiles = (...points: [number, number][]) => ({ dist: 'quantiles' as const, points });

describe('a distribution', () => {
  it.each<[DistributionInput, { mean?: number; median?: number; p95?: number }]>([
    [7, all(7)],
    [constant(7), all(7)],
    [uniform(100, 300), { mean: 200, median: 200, p95: 290 }],
    [logNormal(50, 200), { median: 50, p95: 200 }],
    [gamma(80, 0.5), { mean: 80 }],
    // Exponential.
    [gamma(100, 1), { mean: 101, median: 69.3, p95: 300 }],
    [gamma(80, 0), all(80)],
    [geometric(4), { mean: 4, median: 3, p95: 11 }],
    [geometric(1), { mean: 1, p95: 1 }],
    [quantiles([0, 10], [0.5, 20], [0.95, 200], [1, 300]), { median: 20, p95: 200 }],
    // Steps: nothing lies between the values.
    [quantiles([0, 3], [0.75, 3], [0.75, 9], [1, 9]), { mean: 4.5, median: 3, p95: 9 }],
  ])('%j has the figures that it says', (given, stated) => {
    const spread = spreadOf(draws(given));
    for (const [figure, value] of Object.entries(stated))
      expect(spread[figure as keyof typeof spread] / value, figure).toBeCloseTo(1, 1);
  });

  it('draws each whole number of a uniform range alike', () => {
    const values = draws(uniform(1, 4), 8000, drawWhole);
    for (const each of [1, 2, 3, 4])
      expect(values.filter((value) => value === each).length / 8000).toBeCloseTo(0.25, 1);
  });

  it('never draws beyond its bounds', () => {
    const value = fc.double({ min: 1, max: 1000, noNaN: true });
    const cv = fc.double({ min: 0, max: 100, noNaN: true });
    const bounded = fc.oneof<fc.Arbitrary<DistributionInput>[]>(
      value,
      fc.record({ dist: fc.constant('log-normal' as const), median: value, p95: fc.constant(1000), max: value }),
      fc.record({ dist: fc.constant('gamma' as const), mean: value, cv, max: value }),
      fc.record({ dist: fc.constant('geometric' as const), mean: value, max: value }),
    );
    fc.assert(
      fc.property(bounded, fc.nat(), (given, seed) => {
        const from = schema.parse(given);
        const dice = new Dice(seed);
        for (let index = 0; index < 20; index += 1) {
          const drawn = draw(from, dice);
          expect(drawn).toBeGreaterThanOrEqual(1);
          expect(drawn).toBeLessThanOrEqual(largest(from));
        }
      }),
      { seed: 3 },
    );
  });

  it.each<[unknown, string]>([
    [0, ''],
    [NaN, ''],
    [Infinity, ''],
    [{ dist: 'normal', mean: 3 }, 'dist'],
    [{ median: 3 }, 'dist'],
    [{ dist: 'uniform', min: 5, max: 4 }, 'max'],
    [{ dist: 'uniform', min: 1, max: 4, extra: 1 }, ''],
    [{ dist: 'log-normal', median: 5, p95: 9 }, 'max'],
    [{ dist: 'log-normal', median: 9, p95: 5, max: 10 }, 'p95'],
    [{ dist: 'log-normal', median: 5, p95: NaN, max: 10 }, 'p95'],
    [{ dist: 'gamma', mean: 5, cv: 1, max: 10, min: 11 }, 'max'],
    [quantiles([0, 1]), 'points'],
    [quantiles([0.1, 1], [1, 2]), 'points.0'],
    [quantiles([0, 1], [0.9, 2]), 'points.1'],
    [quantiles([0, 2], [1, 1]), 'points.1'],
    [quantiles([0, 1], [0.6, 2], [0.5, 3], [1, 4]), 'points.2'],
    [quantiles([0, 1], [1, 1001]), 'points.1.1'],
  ])('is refused as %j', (given, path) => {
    const result = schema.safeParse(given);
    expect(result.success).toBe(false);
    // Of a number or a mapping that could be meant, the issue is inside that of the union.
    const paths = (issues: readonly z.core.$ZodIssue[]): string[] =>
      issues.flatMap((issue) =>
        issue.code === 'invalid_union' && issue.errors.length > 0
          ? issue.errors.flatMap(paths)
          : [issue.path.join('.')],
      );
    expect(paths(result.error!.issues)).toContain(path);
  });
});
