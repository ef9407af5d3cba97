import { expect, it, onTestFinished, vi } from 'vitest';
import { thrifty } from '../../../sidecar/watch/thrifty.js';

it('reads why calls wait afresh, but within a hundredth of the time', () => {
  let nowMs = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  onTestFinished(() => clock.mockRestore());
  const readings = { waits: 0, queue: 0 };
  const reader = (what: keyof typeof readings, costMs: number) =>
    thrifty(() => {
      nowMs += costMs;
      return (readings[what] += 1);
    });
  const [waits, queue] = [reader('waits', 0.4), reader('queue', 40)];
  for (let each = 1; each <= 20; each += 1) expect(waits()).toBe(each);
  // Three at once, then as many as a hundredth of 100 s has room for.
  for (let each = 0; each < 10; each += 1) queue();
  expect(readings.queue).toBe(3);
  const untilMs = nowMs + 100_000;
  for (; nowMs < untilMs; nowMs += 10) queue();
  expect(readings.queue).toBeGreaterThan(3 + 20);
  expect(readings.queue).toBeLessThan(3 + 27);
  // A pause saves no more than that burst again.
  nowMs += 1e6;
  readings.queue = 0;
  for (let each = 0; each < 10; each += 1) queue();
  expect(readings.queue).toBe(3);
});
