import { describe, expect, it } from 'vitest';
import { ThroughputTrend } from '../../../src/engines/throughput-trend.js';
import { windowsOf } from '../../support/core-shared-engine.js';

const CHANGES = { admission: { windowInitial: 16, windowMin: 2, windowMax: 1_024 } };

/** Straight lines between these points. */
const through =
  (...points: readonly (readonly [number, number])[]) =>
  (calls: number): number => {
    const after = points.findIndex(([size]) => size >= calls);
    if (after < 0) return points.at(-1)![1];
    const [x1, y1] = points[after]!;
    const [x0, y0] = points[after - 1] ?? [0, 0];
    return y0 + ((y1 - y0) * (calls - x0)) / (x1 - x0);
  };

describe('an adaptive window without load reports', () => {
  it('grows in seconds to what an engine takes', () => {
    const windows = windowsOf(
      { clients: 64, outputTokens: 100, tokensPerSecond: (calls) => 50 * Math.min(calls, 64), changes: CHANGES },
      10_000,
    );
    expect(windows[0]).toBe(16);
    expect(windows.findIndex((window) => window >= 64)).toBeLessThan(8);
    expect(windows.at(-1)).toBeGreaterThanOrEqual(64);
  });

  it('does not stay where an engine collapses', () => {
    const tokensPerSecond = through([1, 146], [16, 474], [48, 160]); // Measured: a small model on two cores.
    const windows = windowsOf({ clients: 64, outputTokens: 20, tokensPerSecond, changes: CHANGES }, 300_000);
    const settled = windows.slice(60);
    expect(Math.max(...settled)).toBeLessThanOrEqual(18);
    expect(settled.reduce((sum, window) => sum + window, 0) / settled.length).toBeGreaterThan(12);
  });

  it('stays near the slots of an engine that queues what is more', () => {
    const windows = windowsOf(
      { clients: 400, outputTokens: 50, tokensPerSecond: (calls) => 50 * Math.min(calls, 64), changes: CHANGES },
      300_000,
    );
    const settled = windows.slice(60);
    expect(Math.min(...settled)).toBeGreaterThanOrEqual(48);
    expect(Math.max(...settled)).toBeLessThanOrEqual(80);
  });

  it('shrinks when the engine refuses, and finds what it takes', () => {
    const windows = windowsOf(
      { clients: 64, outputTokens: 20, tokensPerSecond: (calls) => 50 * calls, takes: 30, changes: CHANGES },
      60_000,
    );
    expect(windows[1]).toBeLessThanOrEqual(30);
    expect(Math.max(...windows.slice(10))).toBeLessThanOrEqual(33);
    expect(Math.min(...windows.slice(10))).toBeGreaterThanOrEqual(24);
  });
});

it('a round is half as many completions as calls in flight', () => {
  const trend = new ThroughputTrend();
  const ends = Array.from({ length: 16 }, () => trend.completed(16, { dispatchedAtMs: 0, endedAtMs: 1_000, work: 10 }));
  expect(ends.flatMap((direction, index) => (direction === undefined ? [] : [index]))).toEqual([7, 15]);
});
