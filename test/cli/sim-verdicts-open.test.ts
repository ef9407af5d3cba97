import { describe, expect, it } from 'vitest';
import { recommend } from '../../cli/sim/recommendation.js';
import type { RunReport } from '../../cli/sim/worker.js';
import { madeUp, spread } from '../support/sim-plans.js';
import { SEEDS, SEEDS_8, outcome } from './sim-outcome.js';

describe('what runs leave open', () => {
  const answerOf = (...given: Parameters<typeof outcome>) =>
    outcome(...given)
      .sentence.split('\n')
      .slice(0, 2)
      .join(' ');
  const FLAT = [
    [10, 10, 10, 5],
    [10, 10, 10, 9],
    [10, 10, 10, 9],
  ];
  const wide =
    (from: number) =>
    ({ seed }: RunReport, at: number) =>
      at % 4 === 2 && at >= from && at < 8
        ? { program_seconds: { mean: 4 * seed } as RunReport['program_seconds'] }
        : {};

  it('is answered by more seeds, never by a verdict for the first setting', () => {
    const { sentence, choice, rows } = outcome(FLAT, wide(0), SEEDS);
    expect(sentence).toMatch(
      /^Too few seeds and programs to tell whether anything is better than pass-through at loads that can be sustained: run again with --seed 1\.\.16 --programs 1200, about 21 times as long\.\n/,
    );
    expect(rows[0]).toContain('plas about 49 seeds would tell');
    expect(choice).toBe(0);
    const even = ({ seed }: RunReport, at: number) =>
      at % 4 === 2 ? { program_seconds: { mean: seed % 2 === 0 ? 4 : 16 } as RunReport['program_seconds'] } : {};
    const odd = ({ seed }: RunReport, at: number) =>
      at % 4 === 2 ? { program_seconds: { mean: seed % 2 === 0 ? 4 : 12 } as RunReport['program_seconds'] } : {};
    expect(outcome(FLAT, odd, SEEDS_8).sentence).toContain('run again');
    // Many more would hardly tell, and as many as it says to run decide; but longer runs differ less, up to a length.
    for (const [change, seeds] of [
      [even, SEEDS_8],
      [odd, [...Array(16).keys()]],
    ] as const) {
      const last = outcome(FLAT, change, seeds);
      expect(last.rows[0]).toContain('plas too uneven to tell');
      expect(last.sentence).toMatch(
        /^Too few programs to tell whether anything is better than pass-through at .*: run again with --programs 1200, about 4 times as long\.\n/,
      );
      const long = outcome(FLAT, change, seeds, undefined, 1001).sentence;
      expect(long).toMatch(/^These runs cannot tell whether anything is better than pass-through\.\n/);
      expect(long).not.toMatch(/run again|would tell/);
    }
  });

  it('is answered by no command of too many runs', () => {
    const window = Array.from({ length: 250 }, (_, at) => at + 1);
    const { plan, runs } = madeUp({ rate: [1], window }, { seeds: [1, 2, 3, 4] }, (at) => ({
      ttft_seconds: spread(at + 1),
      calls: 900,
    }));
    expect(recommend(plan, runs)!.sentence).not.toContain('--seed');
  });

  it('is answered by more seeds where a lower load may show a gain too', () => {
    const held = (run: RunReport, at: number) => ({ queue_grew: false, ...wide(4)(run, at) });
    expect(
      answerOf(
        [
          [10, 10, 10, 5],
          [10, 10, 10, 9],
          [400, 400, 200, 90],
        ],
        held,
      ),
    ).toMatch(
      /^plas pays at 0\.4 .* Too few seeds and programs to tell whether it pays below: run again with --seed 1\.\.16 --programs 1200, about 21 times as long\.$/,
    );
  });

  it('is answered by a search where the first setting sustains no load, or some setting each', () => {
    expect(
      answerOf(
        [
          [10, 10, 5, 5],
          [20, 20, 9, 9],
          [40, 40, 20, 9],
        ],
        () => ({ queue_grew: true }),
      ),
    ).toBe(
      'pass-through sustains none of these loads: run again with --rate auto, which looks for those that it does. Sustained in most seeds: none of these.',
    );
    // However few tell, most seeds overload all.
    const most = ({ seed }: RunReport) =>
      ({ queue_grew: seed < 3 ? true : null, programs: 30, slowdown: { mean: 5 } }) as Partial<RunReport>;
    expect(answerOf(FLAT, most)).toMatch(/^pass-through sustains none of these loads: run again with --rate auto/);
    expect(answerOf(FLAT, () => ({ queue_grew: false }))).toBe(
      'Keep pass-through: nothing is significantly better. A higher load may show a gain: run again with --rate auto, which looks for one.',
    );
  });

  it('is answered by more programs where too few came to tell', () => {
    const few = (_: RunReport, at: number) =>
      ({
        programs: 30,
        queue_grew: at >= 8,
        queue_seconds: { count: 0, mean: null },
        slowdown: { mean: 0.5 },
      }) as Partial<RunReport>;
    expect(answerOf(FLAT, few)).toMatch(
      /^Too few programs to tell whether all of these loads are sustained: run again with --programs \d+, about \d+ times as long\. Sustained in most seeds: at least up to 0\.2 a second\.$/,
    );
    // All at once, no number of programs would.
    const burst = ({ program_seconds: times }: RunReport) =>
      ({
        programs: 3,
        programs_per_second: 0.002,
        queue_grew: false,
        program_seconds: times,
        slowdown: { mean: 0.0001 },
      }) as Partial<RunReport>;
    expect(answerOf(FLAT, burst)).toMatch(
      /^Too few programs to tell .*: run again with --rate auto, which looks for loads of which so few tell\. .*: unknown, with so few programs\.$/,
    );
  });

  it('is answered by more programs where a higher load gains too, but nobody knows whether it is sustained', () => {
    const few = (_: RunReport, at: number) =>
      at < 8
        ? { queue_grew: false }
        : { queue_grew: null, programs: 30, slowdown: { mean: 0.1 } as RunReport['slowdown'] };
    const { sentence, rows } = outcome(
      [
        [10, 10, 10, 5],
        [20, 20, 14, 9],
        [40, 40, 20, 9],
      ],
      few,
    );
    expect(sentence).toMatch(
      /^plas pays at 0\.2 a second, the most that is sustained:.*\nToo few programs to tell whether all of these loads are sustained: run again with --programs \d+, about \d+ times as long\./,
    );
    expect(rows.at(-1)).toContain('plas 2.0x faster, if it lasts');
  });

  it('takes nothing for a gain of a burst', () => {
    const burst = () => ({ programs: 30, queue_grew: null }) as Partial<RunReport>;
    const { sentence, choice, rows } = outcome(
      [
        [10, 10, 5, 5],
        [20, 20, 9, 9],
        [40, 40, 20, 9],
      ],
      burst,
    );
    expect(sentence).toMatch(/^Too few programs to tell whether all of these loads are sustained: /);
    expect(rows[0]).toContain('plas 2.0x faster, if it lasts');
    expect(choice).toBe(0);
  });
});
