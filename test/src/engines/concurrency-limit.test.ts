import { describe, expect, it } from 'vitest';
import { ConcurrencyLimit } from '../../../src/engines/concurrency-limit.js';
import { coreConfig } from '../../support/core-config.js';
import type { SchedulerConfig } from '../../../src/index.js';

function windowOf(admission: Partial<SchedulerConfig['admission']>, engineMax?: number): ConcurrencyLimit {
  return new ConcurrencyLimit(
    coreConfig({ admission: { windowInitial: 4, windowMin: 2, windowMax: 20, ...admission } }).admission,
    engineMax,
  );
}

/** Reports a healthy engine after its window was full, this many times. */
function grow(window: ConcurrencyLimit, times: number): void {
  for (let left = times; left > 0; left -= 1) {
    window.observe(window.size);
    window.report(0, 0.5, 0);
  }
}

describe('Window', () => {
  it('is what the config says, but not more than the engine takes', () => {
    expect(windowOf({ window: 8 }).size).toBe(8);
    expect(windowOf({ window: 8 }, 5).size).toBe(5);
    expect(windowOf({ window: 8 }, 50).size).toBe(8);
  });

  it("auto: the engine's own limit where it is known, else adaptive", () => {
    expect(windowOf({ window: 'auto' }, 50).size).toBe(50);
    expect(windowOf({ window: 'auto' }).size).toBe(4);
  });

  it('a fixed window does not move with reports', () => {
    for (const window of [windowOf({ window: 8 }), windowOf({ window: 'auto' }, 8)]) {
      grow(window, 3);
      window.report(9, 1, 9);
      expect(window.size).toBe(8);
    }
  });

  it('adaptive: doubles until it first meets a limit, and only when it was full since the last report', () => {
    const window = windowOf({ window: 'adaptive' });
    window.report(0, 0.5);
    expect(window.size).toBe(4);
    window.observe(3);
    window.report(0, 0.5);
    expect(window.size).toBe(4);
    window.observe(4);
    window.report(0, 0.5);
    expect(window.size).toBe(8);
    window.report(0, 0.5);
    expect(window.size).toBe(8);
    grow(window, 2);
    expect(window.size).toBe(20);
  });

  /** One that has met its first limit, at 16, and whose engine has caught up. */
  function settled(): ConcurrencyLimit {
    const window = windowOf({ window: 'adaptive', windowMax: 100 });
    grow(window, 2);
    window.report(3, 0, 0);
    window.report(3);
    window.report(0);
    return window;
  }

  it('adaptive: halves at the first limit, and from then on moves by an eighth but at least one', () => {
    const window = settled();
    expect(window.size).toBe(8);
    grow(window, 8);
    expect(window.size).toBe(16);
    grow(window, 1);
    expect(window.size).toBe(18);
    window.report(3);
    expect(window.size).toBe(18);
    window.report(3);
    expect(window.size).toBe(16);
  });

  it.each([
    ['a queue of more than an eighth of it stands', [2, 0, 0]],
    ['the engine has preempted since the last report', [0, 0, 1]],
  ] as const)('adaptive: shrinks when %s, not below windowMin', (_what, [waiting, kvUsage, preemptions]) => {
    const window = settled();
    window.report(waiting, kvUsage, 0);
    window.report(waiting, kvUsage, preemptions);
    expect(window.size).toBe(7);
    for (let total = 2; total < 8; total += 1) window.report(waiting, kvUsage, preemptions * total);
    expect(window.size).toBe(2);
  });

  it.each([
    ['an eighth of it queues: enough to keep the engine busy', [1, 1], 0],
    ['a queue comes and goes: prompts that wait for their prefill', [0, 5], 0.99],
    ['the KV cache is full', [0, 0], 0.99],
  ] as const)('adaptive: stays while %s', (_what, queue, kvUsage) => {
    const window = settled();
    window.report(queue[1]);
    for (let round = 0; round < 5; round += 1) {
      for (const waiting of queue) {
        window.observe(8);
        window.report(waiting, kvUsage);
      }
    }
    expect(window.size).toBe(8);
  });

  it('adaptive: preemptions are a running total, of which only the growth counts', () => {
    const window = settled();
    window.report(0, 0, 7);
    window.report(0, 0, 7);
    window.report(0, 0);
    expect(window.size).toBe(7);
    window.report(0, 0, 5); // The engine has started anew, and preempted before we looked.
    expect(window.size).toBe(7);
    window.report(0, 0, 6);
    expect(window.size).toBe(6);
  });

  it('adaptive: takes the first total that it hears for what was before, not for a preemption now', () => {
    const window = windowOf({ window: 'adaptive', windowMax: 64 });
    const sizes: number[] = [];
    for (const total of [5_000, 5_000, 5_000, 5_001]) {
      window.observe(window.size);
      window.report(0, 0.5, total);
      sizes.push(window.size);
    }
    expect(sizes).toEqual([8, 16, 32, 16]);
  });

  it('adaptive: shrinks once for all calls that were refused together, from what was in flight', () => {
    const window = windowOf({ window: 'adaptive', windowInitial: 16 });
    for (let inFlight = 12; inFlight > 0; inFlight -= 1) window.refused(100, 150, inFlight);
    expect(window.size).toBe(6);
    window.refused(160, 170, 6);
    expect(window.size).toBe(5);
  });

  it('adaptive: follows completions only while it is full and nothing reports', () => {
    const done = (window: ConcurrencyLimit, inFlight: number) => {
      for (let calls = 0; calls < 8; calls += 1)
        window.completed({ dispatchedAtMs: 0, endedAtMs: 1_000, work: 50 }, inFlight);
    };
    const window = windowOf({ window: 'adaptive' });
    done(window, 3);
    expect(window.size).toBe(4);
    window.report(0, 0.5);
    done(window, 4);
    expect(window.size).toBe(4);
    const silent = windowOf({ window: 'adaptive' });
    done(silent, 4);
    expect(silent.size).toBe(8);
  });

  it("adaptive: never above the engine's own limit, even where that is below windowMin", () => {
    const window = windowOf({ window: 'adaptive' }, 1);
    expect(window.size).toBe(1);
    window.report(3);
    window.report(3);
    expect(window.size).toBe(1);
    grow(window, 3);
    expect(window.size).toBe(1);
  });
});
