import { afterEach, expect, it, vi } from 'vitest';
import { type Pool, untilEnded } from '../../lab/index.js';

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

it('tells each minute that it goes on, over all pools of a command, where nobody sees a line drawn', () => {
  vi.useFakeTimers();
  const told = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const { signal } = new AbortController();
  const pool = { runs: 4, runsDone: 1, programsDone: 25, ended: new Promise(() => undefined) } as unknown as Pool<
    never,
    never
  >;
  void untilEnded(pool, 100, signal, 'At 1 a second: ');
  vi.advanceTimersByTime(50_000);
  expect(told).not.toHaveBeenCalled();
  void untilEnded(pool, 100, signal, 'At 2 a second: ');
  vi.advanceTimersByTime(69_000);
  expect(told.mock.calls).toEqual([['At 1 a second: 1 of 4 runs, 25 of 100 programs (25 %), about 3 min left\n']]);
});
