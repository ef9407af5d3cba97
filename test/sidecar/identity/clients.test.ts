import { describe, expect, it } from 'vitest';
import { replay } from './replay.js';
import { CASES, scoreOf } from './cases.js';
import { createCaller } from './caller.js';

/** Requests in the shape of recorded clients', with all calls in flight at once. */
describe('runs at once are a program each', () => {
  it.each(CASES.map((one) => [one.client, one] as const))('%s', (_client, one) => {
    const { runs, calls, ...score } = scoreOf(one);
    expect(calls).toBeGreaterThanOrEqual(runs);
    expect(score).toEqual({ programs: runs, precision: 1, recall: 1 });
  });
});

it('clients of all kinds in one tenant, all in flight together, take no call of each other', () => {
  const mixed = CASES.filter(({ programs, client }) => programs === undefined && !client.includes('prompt_cache_key'));
  const runs = mixed.flatMap((one) => one.runs().map((run) => ({ run, engine: one.engine })));
  const { identifier } = createCaller({ conversationsMax: 100_000 });
  const score = replay(
    runs.map(({ run }) => run),
    (run, call) => runs[run]!.engine(run, call),
    false,
    () => identifier,
  );
  expect(score).toMatchObject({ programs: runs.length, precision: 1, recall: 1 });
});
