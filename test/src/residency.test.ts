import { describe, expect, it } from 'vitest';
import { Desk } from '../support/core-desk.js';

/** Prefill is so dear here that holding a context always pays. */
function gatedDesk(): Desk {
  const desk = new Desk({
    policy: { msPerPromptToken: 100 },
    admission: { gate: 1, halfLifeMs: 1_600, outputReserveTokens: 0 },
  });
  desk.join('A', { window: 8, capacity: 100_000 });
  return desk;
}

const fractionLeft = (desk: Desk, idleMs: number) => {
  desk.pass(idleMs);
  desk.tell({ type: 'woke' });
  return desk.engine('A').workingSetTokens;
};

describe('an idle context', () => {
  it('is counted from when its call ended, however long that ran', () => {
    const [short, long] = [gatedDesk(), gatedDesk()];
    for (const desk of [short, long]) {
      for (const call of ['p1', 'p2', 'p3']) {
        desk.arrive(call, { program: 'p', prompt: 10_000 });
        desk.pass(desk === short ? 10 : 100_000);
        desk.finish(call, { prompt: 10_000, output: 0 });
      }
    }
    expect(long.engine('A').workingSetTokens).toBeGreaterThan(1_000);
    expect(long.engine('A').workingSetTokens).toBe(short.engine('A').workingSetTokens);
  });

  it('counts for less the longer it is idle, and in the end for nothing', () => {
    const desk = gatedDesk();
    for (const call of ['p1', 'p2', 'p3']) {
      desk.arrive(call, { program: 'p', prompt: 10_000 });
      desk.finish(call, { prompt: 10_000, output: 0 });
    }
    const course = [0, 800, 800, 800, 20_000].map((idleMs) => fractionLeft(desk, idleMs));
    expect(course).toEqual(course.toSorted((a, b) => b - a));
    expect(new Set(course.slice(0, 4)).size).toBe(4);
    expect(course.at(-1)).toBe(0);
  });
});
