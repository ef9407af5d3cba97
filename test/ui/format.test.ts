import { expect, it } from 'vitest';
import { counted, duration } from '../../ui/format.js';

it('shows all durations of a minute or more in one form', () => {
  expect([0.2, 3.2, 59, 59.6, 102, 122, 240, 12_000].map(duration)).toEqual([
    '200 ms',
    '3.2 s',
    '59 s',
    '1m',
    '1m 42s',
    '2m 02s',
    '4m',
    '3h 20m',
  ]);
});

it('counts one of what it shows as one', () => {
  expect([0.4, 1.2, 1.6].map((calls) => counted(calls, 'call'))).toEqual(['0 calls', '1 call', '2 calls']);
});
