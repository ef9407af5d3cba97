import { describe, expect, it } from 'vitest';
import { Spread } from '../../../workloads/traces/summary.js';

describe('the spread of values', () => {
  it('is exact', () => {
    const spread = new Spread();
    for (const value of [5, 1, 4, 2, 3]) spread.add(value);
    expect([spread.mean, spread.quantile(0.5), spread.quantile(0.95), spread.quantile(0)]).toEqual([3, 3, 5, 1]);
  });

  it('of nothing is not a number', () => {
    const { mean } = new Spread();
    expect([mean, new Spread().quantile(0.5)]).toEqual([NaN, NaN]);
  });

  it('of very many is still near, whatever their order', () => {
    const spread = new Spread();
    // Above 2^21, so that only every fourth value is kept.
    const count = 2_200_000;
    for (let step = 0; step < count; step += 1) spread.add((step * 1_618_033) % count);
    expect(spread.mean).toBe((count - 1) / 2);
    for (const share of [0.05, 0.5, 0.95]) {
      expect(Math.abs(spread.quantile(share) / count - share)).toBeLessThan(0.001);
    }
  });
});
