import { describe, expect, it } from 'vitest';
import { ENGINE, FAILED, Lanes, QUEUE, TOOL } from '../../../loadtest/report/lanes.js';
import { call, playRun, program } from './made-up.js';

describe('lanes', () => {
  it('split a program into tools, queue and engine', () => {
    const lanes = new Lanes(1, 10);
    lanes.callEnded(call({ sentMs: 0, queueMs: 1000, endedMs: 3000 }));
    lanes.callEnded(call({ sentMs: 5000, queueMs: NaN, endedMs: 6000, outcome: 'timeout' }));
    lanes.programEnded(program({ endedMs: 6500 }));
    const [{ lanes: shown, from, until }] = lanes.lanes(1) as [ReturnType<Lanes['lanes']>[number]];
    expect([from, until]).toEqual([0, 6.5]);
    expect(shown[0]?.spans.map((span) => [span.kind, span.from, span.until])).toEqual([
      [QUEUE, 0, 1],
      [ENGINE, 1, 3],
      [TOOL, 3, 5],
      [FAILED, 5, 6],
      [TOOL, 6, 6.5],
    ]);
  });

  it('lay calls side by side while they overlap, and only then', () => {
    const lanes = new Lanes(1, 10);
    for (const [sentMs, endedMs] of [
      [0, 4000],
      [1000, 2000],
      [3000, 5000],
      [5000, 6000],
    ] as const)
      // prettier-ignore
      lanes.callEnded(call({ sentMs, endedMs }));
    lanes.programEnded(program({ endedMs: 6000 }));
    expect(lanes.lanes(1)[0]?.lanes[0]?.spans.map(({ row, rows }) => [row, rows])).toEqual([
      [0, 2],
      [1, 2],
      [1, 2],
      [0, 1],
    ]);
  });

  it('show the same programs of both targets, that arrived one after the other', () => {
    const lanes = new Lanes(5, 20);
    playRun(lanes, { programs: 305, targets: 2 });
    const [first, second] = lanes.lanes(2).map((each) => each.lanes.map(({ name }) => name));
    expect(first).toHaveLength(20);
    expect(second).toEqual(first);
    const numbers = first!.map((name) => Number(name.slice(-5)));
    expect(numbers).toEqual(numbers.map((_, at) => numbers[0]! + at));
  });

  it('are chosen by the seed', () => {
    const shown = (seed: number) => {
      const lanes = new Lanes(seed, 10);
      playRun(lanes, { programs: 300, targets: 1 });
      return lanes.lanes(1)[0]?.lanes[0]?.name;
    };
    expect(new Set([1, 2, 3, 4, 5].map(shown)).size).toBeGreaterThan(1);
    expect(shown(1)).toBe(shown(1));
  });

  it('are none of nothing', () => {
    expect(new Lanes(1, 10).lanes(1)[0]?.lanes).toEqual([]);
  });
});
