import { afterEach, expect, it, vi } from 'vitest';
import { millis } from '../../../src/index.js';
import { Completions } from '../../../sidecar/metrics/completions.js';
import { crowdedSince, overloadSeconds } from '../../../sidecar/watch/overload.js';
import { Step } from '../../../sidecar/watch/steps.js';
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
  // It lasts longer than the steps, and its beginning stays.
  told(5, 4);
  const since = Array.from({ length: 130 }, () => {
    told(5, 9);
    return crowdedSince(totals.read(now()));
  });
  expect(new Set(since)).toEqual(new Set([Date.now() / 1000 - 129 * 5]));
  // Another gateway knows no better of its own, and together they tell the first.
  const others = [new Step()];
  others[0]!.read({ crowd: 9, in_flight: 1, crowded_since: since[0]! - 600 });
  expect(crowdedSince(totals.read(now(), '5m', [[...Array<never>(59), ...others]]))).toBe(since[0]! - 600);
  expect(told(5, 4)).toBe(0);
});
