import { describe, expect, it } from 'vitest';
import { CASES, scoreOf } from '../../../bench/identity/table.js';

/** The figures of `npm run bench -- identity`: what recorded clients send, with all their calls in flight at once. */
describe('runs at once are a program each', () => {
  it.each(CASES.map((one) => [one.client, one] as const))('%s', (_client, one) => {
    const { runs, calls, ...score } = scoreOf(one);
    expect(calls).toBeGreaterThanOrEqual(runs);
    expect(score).toEqual({ programs: runs, mixed: 0, split: 0, precision: 1, recall: 1 });
  });

  it.each(['aider', 'dspy ReAct', 'smolagents CodeAgent'])(
    '%s is split where rewritten answers are not looked for',
    (client) => {
      const { precision, recall } = scoreOf(
        CASES.find((one) => one.client === client)!,
        false,
      );
      expect([precision, recall]).toEqual([1, 0]);
    },
  );
});
