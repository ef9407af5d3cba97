import { describe, expect, it } from 'vitest';
import { rateAt } from '../../../lab/experiments/rates.js';

describe('the rate at equal latency', () => {
  const CURVE = [
    [1, 10],
    [2, 20],
    [4, 100],
  ] as const;

  it('lies on the line between two points of the sweep', () => {
    expect(rateAt(60, CURVE)).toMatchObject({ rate: 3, isLeast: false });
    expect(rateAt(20, CURVE)).toMatchObject({ rate: 2, isLeast: false });
  });

  it('is at least the last rate where the latency is never reached', () => {
    expect(rateAt(100, CURVE)).toMatchObject({ rate: 4, isLeast: true });
  });

  it('is where the latency is first passed, however the curve goes on', () => {
    expect(rateAt(15, [...CURVE, [8, 5]]).rate).toBe(1.5);
  });

  it('is not known below the first point, without a figure, or without a latency', () => {
    expect(rateAt(9, CURVE).rate).toBeNull();
    expect(rateAt(60, [[1, 10], [2, null], [4, 100]]).rate).toBeNull(); // prettier-ignore
    expect(rateAt(NaN, CURVE).rate).toBeNull();
    expect(rateAt(10, []).rate).toBeNull();
  });
});
