import { describe, expect, it } from 'vitest';
import { Window } from '../../src/window.js';
import { coreConfig } from '../support/core-config.js';
import type { SchedulerConfig } from '../../src/index.js';

function windowOf(admission: Partial<SchedulerConfig['admission']>, engineMax?: number): Window {
  return new Window(
    coreConfig({ admission: { windowInitial: 4, windowMin: 2, windowMax: 20, ...admission } }).admission,
    engineMax,
  );
}

/** Reports a healthy engine after its window was full, this many times. */
function grow(window: Window, times: number): void {
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

  it('adaptive: grows only when it was full since the last report, by an eighth but at least one', () => {
    const window = windowOf({ window: 'adaptive' });
    window.report(0, 0.5);
    expect(window.size).toBe(4);
    window.observe(3);
    window.report(0, 0.5);
    expect(window.size).toBe(4);
    window.observe(4);
    window.report(0, 0.5);
    expect(window.size).toBe(5);
    window.report(0, 0.5);
    expect(window.size).toBe(5);
    grow(window, 11);
    expect(window.size).toBe(16);
    grow(window, 1);
    expect(window.size).toBe(18);
    grow(window, 5);
    expect(window.size).toBe(20);
  });

  it.each([
    ['the engine queues', [1, 0, 0]],
    ['the engine has preempted since the last report', [0, 0, 1]],
    ['the KV cache is full', [0, 0.99, 0]],
  ] as const)('adaptive: shrinks when %s, not below windowMin', (_what, [waiting, kvUsage, preemptions]) => {
    const window = windowOf({ window: 'adaptive' });
    window.observe(4);
    window.report(waiting, kvUsage, preemptions);
    expect(window.size).toBe(3);
    for (let total = 2; total < 6; total += 1) window.report(waiting, kvUsage, preemptions * total);
    expect(window.size).toBe(2);
  });

  it('adaptive: preemptions are a running total, of which only the growth counts', () => {
    const window = windowOf({ window: 'adaptive' });
    window.report(0, 0, 7);
    window.report(0, 0, 7);
    window.report(0, 0);
    expect(window.size).toBe(3);
    window.report(0, 0, 0); // The engine has started anew.
    window.report(0, 0, 1);
    expect(window.size).toBe(2);
  });

  it("adaptive: never above the engine's own limit, even where that is below windowMin", () => {
    const window = windowOf({ window: 'adaptive' }, 1);
    expect(window.size).toBe(1);
    window.report(3);
    expect(window.size).toBe(1);
    grow(window, 3);
    expect(window.size).toBe(1);
  });
});
