import { expect, it } from 'vitest';
import { rate, time } from '../../text/index.js';

it('times and rates come in the unit that people would use', () => {
  expect([null, 0.00859, 0.9996, 1, 119, 120, 7199, 7200].map(time)).toEqual([
    '-', '8.59 ms', '1,000 ms', '1 s', '119 s', '2 min', '120 min', '2 h',
  ]); // prettier-ignore
  expect([null, 3.64, 0.0451, 0.01].map(rate)).toEqual(['-', '3.64 a second', '2.71 a minute', '36 an hour']);
});
