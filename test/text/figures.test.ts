import { expect, it } from 'vitest';
import { brief, counted, span } from '../../text/index.js';

it('durations have one form everywhere', () => {
  const spans = [0, 0.2, 7, 999.4, 999.6, 2500, 9960, 59_600, 119_000, 240_000, 12_000_000, 90_000_000].map(span);
  expect(spans.join()).toBe('0 s,0 s,7 ms,999 ms,1 s,2.5 s,10 s,1 min,1 min 59 s,4 min,3 h 20 min,1 d 1 h');
});

it('what is shown as one is counted as one', () => {
  expect([0.4, 1.2, 1.6].map((calls) => counted(calls, 'call'))).toEqual(['0 calls', '1 call', '2 calls']);
});

it('names are cut before their ends, where they differ', () => {
  expect([brief('a'.repeat(60)), brief(`${'a'.repeat(70)}-shard-21`)]).toEqual([
    'a'.repeat(60),
    `${'a'.repeat(51)}…shard-21`,
  ]);
});
