import { describe, expect, it } from 'vitest';
import { Pairs } from '../../../loadtest/report/pairs.js';
import { Dice } from '../../../workloads/dice.js';
import { program } from './made-up.js';

/** So many programs that take about 100 s at A, and at B that times a ratio which varies. */
function paired(count: number, ratio: number, noise = 0.1): Pairs {
  const pairs = new Pairs(7);
  const dice = new Dice(3);
  for (let index = 0; index < count; index += 1) {
    const first = 100_000 * (1 + 0.3 * dice.share());
    const other = first * ratio * (1 + noise * dice.normal());
    pairs.programEnded(program({ index, target: 0, endedMs: first }));
    pairs.programEnded(program({ index, target: 1, endedMs: other }));
  }
  return pairs;
}

describe('the comparison of two targets', () => {
  it('finds the one that is sooner, with an interval around the truth', () => {
    const { program_seconds, difference, pairs, left_out } = paired(120, 0.5).report([0, 0]);
    expect({ difference, pairs, left_out }).toEqual({ difference: 'B sooner', pairs: 120, left_out: 0 });
    expect(program_seconds.mean.low!).toBeLessThan(0.5);
    expect(program_seconds.mean.high!).toBeGreaterThan(0.5);
    expect(program_seconds.mean.high! - program_seconds.mean.low!).toBeLessThan(0.05);
  });

  it('says it in a sentence with the ratio turned to be above 1', () => {
    const words = (ratio: number) => /(\S+)x sooner .* interval (\S+) to (\S+), 120 pairs/.exec(paired(120, ratio).report([0, 0]).outcome)!.slice(1).map(Number); // prettier-ignore
    for (const [ratio, expected] of [
      [0.5, 2],
      [3, 3],
    ] as const) {
      // prettier-ignore
      const [sooner, low, high] = words(ratio) as [number, number, number];
      expect(sooner / expected).toBeCloseTo(1, 1);
      expect(low).toBeLessThanOrEqual(sooner);
      expect(high).toBeGreaterThanOrEqual(sooner);
    }
  });

  it.each([1, 1.002])('shows no difference where there is next to none, x%d', (ratio) => {
    expect(paired(60, ratio, 0.2).report([0, 0]).difference).toBe('none shown');
  });

  it('claims nothing of few pairs, however far apart', () => {
    const { program_seconds, difference } = paired(9, 0.2).report([0, 0]);
    expect([program_seconds.mean.low, program_seconds.mean.high, difference]).toEqual([null, null, 'none shown']);
    expect(paired(10, 0.2).report([0, 0]).difference).toBe('B sooner');
  });

  it('has no ratio of nothing', () => {
    const report = new Pairs(1).report([0, 0]);
    expect([report.program_seconds.mean.ratio, report.pairs, report.difference]).toEqual([null, 0, 'none shown']);
  });

  it('pairs twins whichever ends first, and leaves out those that failed or have no twin', () => {
    const pairs = new Pairs(1);
    pairs.programEnded(program({ index: 1, target: 1, endedMs: 1000 }));
    pairs.programEnded(program({ index: 0, target: 0, endedMs: 8000 }));
    pairs.programEnded(program({ index: 0, target: 1, endedMs: 2000 }));
    pairs.programEnded(program({ index: 1, target: 0, endedMs: 4000 }));
    pairs.programEnded(program({ index: 2, target: 0, endedMs: 1, outcome: 'timeout' }));
    pairs.programEnded(program({ index: 2, target: 1, endedMs: 90_000 }));
    pairs.programEnded(program({ index: 3, target: 0, endedMs: 5000 }));
    const report = pairs.report([1, 0]);
    expect([report.pairs, report.left_out, report.program_seconds.mean.ratio]).toEqual([2, 2, 0.25]);
    expect(report.outcome).toContain('failed at A: 1');
  });

  it('forgets the oldest that wait for a twin when one target has stalled', () => {
    const pairs = new Pairs(1);
    for (let index = 0; index <= 100_000; index += 1) pairs.programEnded(program({ index }));
    pairs.programEnded(program({ index: 0, target: 1 }));
    pairs.programEnded(program({ index: 100_000, target: 1 }));
    expect(pairs.report([0, 0]).pairs).toBe(1);
  });

  it('is the same of the same seed', () => {
    expect(paired(50, 0.8).report([0, 0])).toEqual(paired(50, 0.8).report([0, 0]));
  });
});
