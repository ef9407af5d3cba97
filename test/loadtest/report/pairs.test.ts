import { describe, expect, it } from 'vitest';
import { MARGIN, verdictOf } from '../../../lab/measure/comparison.js';
import type { LoadCallRecord } from '../../../loadtest/load.js';
import { comparedOf, Pairs } from '../../../loadtest/report/pairs.js';
import { Target, type TargetReport } from '../../../loadtest/report/target.js';
import { Dice } from '../../../workloads/dice.js';
import { call, program } from './made-up.js';

/** Runs of programs that take about 100 s at A, and at B that times the ratio; each run has a noise of its own. */
function compared(
  runs: number,
  ratio: number,
  { noise = 0.003, programs = 24, more = [] as readonly LoadCallRecord[] } = {},
) {
  const pairs = new Pairs(7, MARGIN);
  const targets = ['A', 'B'].map((name) => new Target(name, `http://${name.toLowerCase()}`, 7, false));
  const dice = new Dice(3);
  for (let index = 0; index < runs * programs; index += 1) {
    const run = Math.floor(index / programs);
    const first = 100_000 * (1 + 0.3 * dice.share());
    const other = first * ratio * (1 + noise * Dice.of(5, run).normal());
    for (const [target, endedMs] of [first, other].entries()) {
      targets[target]!.callEnded(call({ run, target, firstTokenMs: endedMs / 10, endedMs }));
      for (const observer of [pairs, targets[target]!]) observer.programEnded(program({ run, index, target, endedMs }));
    }
  }
  for (const each of more) targets[each.target]!.callEnded(each);
  return (whole: number, given: Partial<TargetReport> = {}) =>
    pairs.report(
      targets.map((target) => ({ ...target.report(), ...(target.name === 'B' && given) })),
      whole,
    );
}

describe('the comparison of two targets', () => {
  it('finds the one that is sooner, with an interval around the truth over its runs', () => {
    const { program_seconds, ttft_seconds, pairs, runs } = compared(3, 0.5)(3);
    expect({ pairs, runs }).toEqual({ pairs: 72, runs: 3 });
    for (const { mean } of [program_seconds, ttft_seconds]) {
      expect(mean).toMatchObject({ ratio: expect.closeTo(0.5, 2) as number, pairs: 3 });
      expect(mean.low!).toBeLessThan(0.5);
      expect(mean.high!).toBeGreaterThan(0.5);
    }
  });

  it('of a target with itself is that there is no difference that matters', () => {
    // Every pair of a run is on the same side: by pairs alone there would be a winner.
    expect(compared(1, 1)(1).program_seconds.mean.ratio).not.toBe(1);
    expect(compared(3, 1)(3)).toMatchObject({ outcome: expect.stringContaining('programs within 2 % of A') as string });
    expect(compared(3, 1, { noise: 0.03 })(3)).toMatchObject({
      outcome: expect.stringContaining('no certain difference') as string,
    });
  });

  it('lets no single run decide, as of first tokens of which one run has nearly all', () => {
    const run = (seconds: number) => {
      const each = { count: 100, mean: seconds, p50: seconds, p95: seconds, p99: seconds, max: seconds };
      return { program_seconds: each, ttft_seconds: each };
    };
    const told = (...runs: readonly (readonly [number, number])[]) =>
      comparedOf(
        [],
        runs.map(([a, b]) => [run(a), run(b)] as const),
        MARGIN,
      ).ttft_seconds.p50;
    expect(verdictOf(told([0.0427, 0.042], [0.902, 0.63], [0.0401, 0.0402]), MARGIN)).toBe('unsure');
    expect(verdictOf(told([0.05, 0.03], [0.902, 0.63], [0.06, 0.035]), MARGIN)).toBe('sooner');
  });

  it('claims nothing of one run, however far apart', () => {
    const { program_seconds, outcome } = compared(1, 0.2)(1);
    expect([program_seconds.mean.low, program_seconds.mean.high]).toEqual([null, null]);
    expect(outcome).toMatch(/5.0x faster.*may be chance/);
  });

  it('compares nothing where a tenth of a target’s programs failed, and says when it went away', () => {
    const of = (failed: number, gone: number | null = null) =>
      compared(1, 0.2)(1, { programs: 72, failed, gone_after_seconds: gone });
    expect(of(55, 13)).toMatchObject({
      outcome: 'Not comparable: 55 of 72 programs failed at B, which went away 13 s after the beginning.',
    });
    const left = compared(1, 0.2)(1, { programs: 72, failed: 2, engine_left: 'e1 is down' });
    expect(left).toMatchObject({ outcome: 'Not comparable: e1 is down behind http://b.' });
    expect(of(8).outcome).toBe(
      'Not comparable: 8 of 72 programs failed at B, whose times are of the other 64 alone, under a lighter load.',
    );
    expect(of(7).outcome).toMatch(
      /^B: failed programs 0 -> 7; programs 5.0x faster.* Only programs that completed at both are compared: 7 of 72 programs failed at B\.$/,
    );
  });

  it('tells of the slowest first tokens as its ratio does: by their means over the runs that both have', () => {
    const more = [call({ run: 2, target: 0, firstTokenMs: 900_000, endedMs: 900_000 })];
    const {
      ttft_seconds,
      ttft_p99_seconds: [before, after],
      outcome,
    } = compared(2, 2, { more })(3);
    expect(after! / before!).toBeCloseTo(ttft_seconds.p99.ratio!);
    expect(outcome).toMatch(/slowest 2.0x slower/);
  });

  it('is over whole runs, unless there is none', () => {
    expect(compared(3, 0.5)(2)).toMatchObject({ runs: 2, program_seconds: { mean: { pairs: 2 } } });
    expect(compared(1, 0.5)(0)).toMatchObject({ runs: 1, program_seconds: { mean: { pairs: 1 } } });
  });

  it('pairs twins whichever ends first, and leaves out those that failed or have no twin', () => {
    const pairs = new Pairs(1, MARGIN);
    const ended = (index: number, target: number, endedMs: number, outcome = 'completed') =>
      pairs.programEnded(program({ index, target, endedMs, outcome }));
    ended(1, 1, 1000);
    ended(0, 0, 8000);
    ended(0, 1, 2000);
    ended(1, 0, 4000);
    ended(2, 0, 1, 'timeout');
    ended(2, 1, 90_000);
    ended(3, 0, 5000);
    const report = pairs.report([], 1);
    expect([report.pairs, report.program_seconds.mean.ratio]).toEqual([2, 0.25]);
  });
});
