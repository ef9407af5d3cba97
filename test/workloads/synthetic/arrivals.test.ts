import { describe, expect, it } from 'vitest';
import { arrivalTimes } from '../../../workloads/workload.js';
import { Dice } from '../../../workloads/dice.js';

const times = (ratePerSecond: number, cv: number, count: number, seed = 1): number[] => {
  const all = arrivalTimes({ type: 'open', ratePerSecond, cv }, new Dice(seed));
  return Array.from({ length: count }, () => all.next().value);
};
const gaps = (at: readonly number[]): number[] => at.map((time, index) => time - (at[index - 1] ?? 0));

describe('open arrivals', () => {
  it.each([
    [0.8, 1],
    [50, 0.4],
    [3, 2],
    [0.01, 1],
  ])('at %d a second with a variation of %d have that rate and variation', (rate, cv) => {
    const between = gaps(times(rate, cv, 40_000));
    const mean = between.reduce((sum, gap) => sum + gap, 0) / between.length;
    const deviation = Math.sqrt(between.reduce((sum, gap) => sum + (gap - mean) ** 2, 0) / between.length);
    expect(Math.abs((mean * rate) / 1000 - 1)).toBeLessThan(0.03);
    expect(Math.abs(deviation / mean / cv - 1)).toBeLessThan(0.04);
    expect(Math.min(...between)).toBeGreaterThanOrEqual(0);
  });

  it('are evenly spaced without variation', () => {
    expect(times(4, 0, 5)).toEqual([250, 500, 750, 1000, 1250]);
  });
});
