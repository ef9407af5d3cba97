import { expect, it } from 'vitest';
import { Waiting } from '../../../sidecar/watch/waiting.js';
import { callId, type CallId, type QueueView, type WaitView } from '../../../src/index.js';

it('reads why calls wait afresh, but within a hundredth of the time', () => {
  let nowMs = 0;
  const costs = { waits: 0.4, queue: 40 };
  const readings = { waits: 0, queue: 0 };
  const read = (what: 'waits' | 'queue') => {
    readings[what] += 1;
    nowMs += costs[what];
  };
  const calls: [CallId, WaitView][] = [[callId('c7'), {} as WaitView]];
  const views = {
    waits: () => (read('waits'), calls.values()),
    queue: () => (read('queue'), {} as QueueView),
  };
  const waiting = new Waiting(
    () => views,
    () => nowMs,
  );
  for (let each = 1; each <= 20; each += 1) {
    expect(waiting.of(callId('c7'))).toBeDefined();
    expect(readings.waits).toBe(each);
  }
  expect(waiting.of(callId('other'))).toBeUndefined();
  // Three at once, then as many as a hundredth of 100 s has room for.
  for (let each = 0; each < 10; each += 1) waiting.queue();
  expect(readings.queue).toBe(3);
  const untilMs = nowMs + 100_000;
  for (; nowMs < untilMs; nowMs += 10) waiting.queue();
  expect(readings.queue).toBeGreaterThan(3 + 20);
  expect(readings.queue).toBeLessThan(3 + 27);
  // A pause saves no more than that burst again.
  nowMs += 1e6;
  readings.queue = 0;
  for (let each = 0; each < 10; each += 1) waiting.queue();
  expect(readings.queue).toBe(3);
});
