import { expect, it } from 'vitest';
import { CallTimes } from '../../../sidecar/calls/times.js';
import { millis } from '../../../src/index.js';

it('counts the time to the first token from the last dispatch, not from the arrival', () => {
  let nowMs = 0;
  const times = new CallTimes({ now: () => millis(nowMs) });
  for (const dispatchedMs of [1000, 7000]) {
    nowMs = dispatchedMs;
    times.dispatched();
  }
  nowMs = 7040;
  expect(times.began()).toBe(40);
  expect(times.figures(undefined).ttftMs).toBe(7040);
});
