import { expect, it } from 'vitest';
import { slowFindings } from '../../cli/doctor/gateway.js';

it('notes an engine whose first tokens take more than three times the median of others with its models', () => {
  const told = (p50: number, count = 20, model = 'm') =>
    slowFindings([
      ...[0.5, 1, 1].map((each, at) => ({
        id: `e${at}`,
        models: ['m', 'n'],
        first_token_seconds: { count: 20, p50: each, p99: 9 },
      })),
      { id: 'slow', models: [model], first_token_seconds: { count, p50, p99: 9 } },
    ]).map(({ level, subject, found }) => `${level} ${subject} ${found}`);
  expect(told(3.1)).toEqual([
    'note gateway’s engine slow takes 3.1 s to the first token in the median, others with its models 1 s',
  ]);
  expect([told(3), told(3.1, 19), told(3.1, 20, 'other')]).toEqual([[], [], []]);
});
