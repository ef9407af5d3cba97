import { afterEach, expect, it, vi } from 'vitest';
import { millis } from '../../../src/index.js';
import { Completions } from '../../../sidecar/metrics/completions.js';
import { crowdedSince, overloadSeconds } from '../../../sidecar/watch/overload.js';
import { Totals } from '../../../sidecar/watch/totals.js';

afterEach(() => vi.useRealTimers());

it('begins once all readings of half a minute show more calls that wait for room than run, and ends with the first that does not', () => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'], now: 1e12 });
  const now = () => millis(performance.now());
  const reading = { crowd: 4, in_flight: 4 };
  const completions = new Completions({
    idle: () => [],
    known: { of: () => undefined, leaving: () => undefined },
    now,
  });
  const totals = new Totals({ completions, now, reading: () => reading, troubleOf: () => undefined });
  const told = (seconds: number, crowd: number) => {
    vi.advanceTimersByTime(1000 * seconds);
    reading.crowd = crowd;
    totals.look();
    return Math.round(overloadSeconds(crowdedSince(totals.read(now()))));
  };
  expect([told(5, 4), told(5, 5), told(25, 5), told(5, 5), told(15, 5)]).toEqual([0, 0, 0, 30, 45]);
  expect([told(5, 4), told(5, 9)]).toEqual([0, 0]);
});
