import { expect, it } from 'vitest';
import { rateAt } from '../../../lab/experiments/rates.js';

type Point = readonly [rate: number, latency: number | null];
const CURVE: readonly Point[] = [
  [1, 10],
  [2, 20],
  [4, 100],
];

it.each<[string, number, readonly Point[], rate: number | null, isLeast?: boolean]>([
  ['on the line between two points of the sweep', 60, CURVE, 3],
  ['on a point', 20, CURVE, 2],
  ['at least the last one where the latency is never reached', 100, CURVE, 4, true],
  ['where the latency is first passed, however the curve goes on', 15, [...CURVE, [8, 5]], 1.5],
  ['not known below the first point', 9, CURVE, null],
  ['not known without a figure', 60, CURVE.with(1, [2, null]), null],
  ['not known without a latency', NaN, CURVE, null],
  ['not known without a point', 10, [], null],
])('the rate at equal latency is %s', (_, latency, curve, rate, isLeast = false) => {
  expect(rateAt(latency, curve)).toMatchObject({ rate, ...(rate !== null && { isLeast }) });
});
