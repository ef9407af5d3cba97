import { afterEach, expect, it, vi } from 'vitest';
import { Interrupted, untilStopped } from '../../cli/signals.js';

afterEach(() => void vi.useRealTimers());

it('counts a pair of signals within a moment as one, and ends at once at a later one', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  let release: () => void = () => undefined;
  const until = new Promise<void>((resolve) => (release = resolve));
  const stop = vi.fn(() => until);
  const seen: unknown[] = [];
  const stopped = untilStopped({ stop, until }).catch((error: unknown) => void seen.push(error));
  process.emit('SIGTERM', 'SIGTERM');
  vi.advanceTimersByTime(100);
  process.emit('SIGTERM', 'SIGTERM');
  await Promise.resolve().then(() => undefined);
  expect(seen).toEqual([]);
  vi.advanceTimersByTime(1);
  process.emit('SIGINT', 'SIGINT');
  await stopped;
  expect(seen).toEqual([expect.any(Interrupted)]);
  expect(stop).toHaveBeenCalledTimes(1);
  release();
});
