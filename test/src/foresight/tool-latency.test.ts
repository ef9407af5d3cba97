import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ToolLatency } from '../../../src/foresight/tool-latency.js';
import { Dice } from '../../../workloads/index.js';

function taught(count: number, draw: (dice: Dice) => number): ToolLatency {
  const latency = new ToolLatency('bash');
  const dice = new Dice(1);
  for (let seen = 0; seen < count; seen += 1) latency.learn(draw(dice));
  return latency;
}

const within = (value: number, expected: number, share: number) =>
  expect(Math.abs(value / expected - 1), `${value} is about ${expected}`).toBeLessThan(share);

/** About log-normal: the sum of twelve draws is about normal, of variance 1. */
const logNormal = (dice: Dice) =>
  Math.exp(7 + 0.5 * (Array.from({ length: 12 }, () => dice.share()).reduce((sum, share) => sum + share, 0) - 6));

describe('the latency of a tool', () => {
  it('is 2 s, or 10 s at worst, until a hundred have been seen', () => {
    const latency = taught(99, () => 50);
    within(latency.restMs(0.5, 0), 2_000, 0.01);
    within(latency.restMs(0.95, 0), 10_000, 0.01);
    latency.learn(50);
    expect([latency.restMs(0.5, 0), latency.restMs(0.95, 0)]).toEqual([50, 50]);
  });

  it('has the quantiles of the last ones, given the time already waited', () => {
    const latency = taught(400, (dice) => (dice.share() < 0.75 ? 100 : 60_000) * (0.9 + 0.2 * dice.share()));
    within(latency.restMs(0.5, 0), 100, 0.1);
    within(latency.restMs(0.95, 0), 60_000, 0.1);
    within(latency.restMs(0.5, 1_000), 59_000, 0.1);
    within(latency.tail(1_000), 0.25, 0.3);
    for (let seen = 0; seen < 128; seen += 1) latency.learn(7);
    expect(latency.restMs(0.95, 0)).toBe(7);
  });

  it('beyond the longest that were seen is told by the fit', () => {
    const latency = taught(2_000, logNormal);
    const longMs = Math.exp(7 + 0.5 * 3);
    expect(latency.tail(longMs)).toBeGreaterThan(0.0002);
    expect(latency.tail(longMs)).toBeLessThan(0.01);
    expect(latency.restMs(0.5, longMs)).toBeGreaterThan(100);
    expect(latency.restMs(0.5, longMs)).toBeLessThan(2_000);
  });

  it('is the declared one at first, and less so the more were seen', () => {
    within(new ToolLatency('x').restMs(0.5, 0, 30_000), 30_000, 1e-6);
    const [some, many] = [8, 800].map((count) => taught(count, () => 2_000).restMs(0.5, 0, 30_000));
    within(some!, 16_000, 0.01);
    within(many!, 2_280, 0.05);
    within(new ToolLatency('x').restMs(0.95, 0, 30_000), 150_000, 0.01);
  });

  const times = fc.double({ min: 0, max: 1e9, noNaN: true });
  it('is never negative, and longer the surer it must be; the tail falls as time passes', () => {
    const seen = fc.array(times, { maxLength: 300 });
    fc.assert(
      fc.property(
        seen,
        times,
        times,
        fc.option(times, { nil: undefined }),
        (latencies, waitedMs, moreMs, declaredMs) => {
          const latency = new ToolLatency('x');
          for (const ms of latencies) latency.learn(ms);
          const rests = [0.05, 0.5, 0.95, 0.999].map((quantile) => latency.restMs(quantile, waitedMs, declaredMs));
          expect(rests.every((ms) => Number.isFinite(ms) && ms >= 0)).toBe(true);
          expect(rests).toEqual(rests.toSorted((a, b) => a - b));
          const [now, later] = [latency.tail(waitedMs, declaredMs), latency.tail(waitedMs + moreMs, declaredMs)];
          expect(later > 0 && now <= 1).toBe(true);
          if (latencies.length < 100) expect(later <= now + 1e-7).toBe(true);
        },
      ),
      { numRuns: 300 },
    );
  });
});
