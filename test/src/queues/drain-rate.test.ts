import { expect, it } from 'vitest';
import { DrainRate } from '../../../src/queues/drain-rate.js';

/** 64 completions, 100 ms apart, each of which leaves calls waiting. */
function knownRate(): { readonly rate: DrainRate; readonly nowMs: number } {
  const rate = new DrainRate();
  for (let nowMs = 0; nowMs <= 6_400; nowMs += 100) rate.completed(true, nowMs);
  return { rate, nowMs: 6_400 };
}

it('is the mean time between completions under backlog, once it is known', () => {
  const { rate, nowMs } = knownRate();
  expect(rate.msPerCall(nowMs)).toBeCloseTo(100);
  expect(new DrainRate().msPerCall(0)).toBeUndefined();
});

it('does not count a time in which no call waited', () => {
  const { rate, nowMs } = knownRate();
  rate.completed(false, nowMs + 100);
  rate.completed(true, nowMs + 60_000);
  expect(rate.msPerCall(nowMs + 60_000)).toBeCloseTo(100);
  rate.completed(true, nowMs + 60_100);
  expect(rate.msPerCall(nowMs + 60_100)).toBeCloseTo(100);
});

it('is forgotten after ten minutes', () => {
  const { rate, nowMs } = knownRate();
  expect(rate.msPerCall(nowMs + 600_000)).toBeCloseTo(100);
  expect(rate.msPerCall(nowMs + 600_001)).toBeUndefined();
});
