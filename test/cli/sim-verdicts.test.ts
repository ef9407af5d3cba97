import { describe, expect, it } from 'vitest';
import type { RunReport } from '../../cli/sim/worker.js';
import { spread } from '../support/sim-plans.js';
import { SEEDS, SEEDS_8, outcome } from './sim-outcome.js';

describe('the verdict over several loads', () => {
  it('is an answer, what each setting sustains, and a row for each load and setting', () => {
    const { sentence, choice, rows } = outcome([
      [10, 10, 10, 5],
      [20, 20, 14, 9],
      [400, 205, 200, 90],
    ]);
    expect(sentence.split('\n')).toEqual([
      'plas pays at 0.2 a second, the most that is sustained: programs 30 % faster. No price is certain.',
      'Sustained in most seeds: up to 0.2 a second.',
    ]);
    expect(rows).toEqual([
      'At 0.1 a second: fcfs-window no difference; plas no difference; srpt 2.0x faster, with the future known',
      'At 0.2 a second: fcfs-window no difference; plas 30 % faster; srpt 2.2x faster, with the future known',
      'At 0.4 a second: fcfs-window both overloaded; plas both overloaded; srpt both overloaded',
    ]);
    expect(choice).toBe(2);
  });

  it('tells which setting sustains more, where the queue of others grows in most of its runs', () => {
    const grown = ({ seed }: RunReport, at: number) => ({
      queue_grew: [4, 5].includes(at) ? seed > 1 : [6, 7].includes(at) ? seed > 6 : at > 7,
    });
    const { sentence, rows } = outcome(
      [
        [10, 10, 10, 5],
        [60, 60, 14, 9],
        [400, 400, 200, 90],
      ],
      grown,
      SEEDS_8,
    );
    expect(sentence).toMatch(
      /\nSustained in most seeds: pass-through and fcfs-window up to 0\.1 a second; plas and srpt up to 0\.2 a second \(6 of 8\)\.$/m,
    );
    expect(rows[1]).toContain('plas 4.3x faster*');
  });

  it('takes nothing whose gain hangs on a seed that overloads the first and not the other', () => {
    // A seed more overloads the first, and in all that both sustain nothing differs.
    const told = (at: number, more: number, fewer: number) => {
      const grown = ({ seed }: RunReport, variant: number) => ({
        queue_grew: variant > 7 || (variant > 3 && seed > 8 - (variant === at ? more : fewer)),
        ...(variant === at && seed > 4 && { program_seconds: spread(600) }),
      });
      return outcome(
        [
          [10, 10, 10, 5],
          [60, 60, 60, 9],
          [400, 400, 200, 90],
        ],
        grown,
        SEEDS_8,
      );
    };
    const { choice, rows, sentence } = told(4, 4, 3);
    expect([choice, rows[1]]).toEqual([0, expect.stringContaining('plas no difference (4 of 8 seeds); ')]);
    expect(sentence).toMatch(
      /^Too few programs to tell whether anything is better .*: run again with --programs 1200, .*\n.*: pass-through up to 0\.1 a second; fcfs-window, plas and srpt up to 0\.2 a second \(5 of 8\)\.$/m,
    );
    // A gain of those that both sustain is one.
    expect(rows[1]).toContain('srpt 6.7x faster (4 of 8 seeds)');
    // Seeds that are left out hide no gain of one that sustains no more of them.
    const { rows: kept, sentence: keep } = told(6, 4, 3);
    expect([kept[1], keep]).toEqual([
      expect.stringContaining('plas no difference (4 of 8 seeds); '),
      expect.stringMatching(/^Keep pass-through: /),
    ]);
    // Three more are no chance, and the price of those is told.
    expect(told(4, 4, 1)).toMatchObject({
      choice: 2,
      sentence: expect.stringContaining(', for certain only with seeds that overload pass-through.') as string,
    });
  });

  it('hides no certain gain behind a load that tells nothing, nor a setting that is as good', () => {
    const noisy = ({ seed }: RunReport, at: number) =>
      at === 9 || at === 10
        ? { queue_grew: false, program_seconds: { mean: seed === 1 ? 190 : 210 } as RunReport['program_seconds'] }
        : { queue_grew: false };
    const { rows } = outcome(
      [
        [10, 9, 11, 5],
        [20, 20, 20, 20],
        [400, 200, 201, 90],
      ],
      noisy,
    );
    expect(rows[2]).toContain('fcfs-window 2.0x faster; plas 2.0x faster');
    expect(rows[0]).toContain('fcfs-window 10 % faster');
  });

  it('names the kind of program that pays', () => {
    const kinds =
      (count: number) =>
      ({ seed }: RunReport, at: number) =>
        ({
          queue_grew: false,
          by_workload: {
            rag: {
              program_seconds: { count, p99: at === 10 ? 446 : 217 },
              ttft_seconds: { count, p99: at === 10 ? 40 : 10 },
            },
            coder: { program_seconds: { count, p99: at === 10 ? 99 * seed : 98 }, ttft_seconds: { count: 1 } },
          },
        }) as unknown as Partial<RunReport>;
    const table = [
      [1, 1, 1, 1],
      [1, 1, 1, 1],
      [400, 400, 200, 90],
    ];
    // The p99 of fewer is their slowest, which is chance.
    expect(outcome(table, kinds(99)).sentence).not.toContain('pays: ');
    expect(outcome(table, kinds(100)).sentence.split('\n')[0]).toBe(
      'plas pays at 0.4 a second: programs 2.0x faster. Price: rag pays: first token p99 4.0x slower.',
    );
  });

  it('names the times that are worse where they are worst', () => {
    const later = ({ ttft_seconds: first, seed }: RunReport, at: number): Partial<RunReport> => {
      const factor = ({ 6: 1.5, 10: 4 } as Record<number, number>)[at] ?? 1;
      // Of one in three seeds: no certain difference.
      const p50 = at === 10 && seed === 1 ? 9 * first.p50! : first.p50!;
      return { queue_grew: false, ttft_seconds: { ...first, p50, p99: factor * 10 } };
    };
    const { sentence } = outcome(
      [
        [10, 10, 10, 5],
        [20, 20, 14, 9],
        [400, 400, 200, 90],
      ],
      later,
    );
    expect(sentence.split('\n')[0]).toBe(
      'plas pays from 0.2 to 0.4 a second: programs up to 2.0x faster. Price: first token p99 4.0x slower (10 -> 40 s) at 0.4 a second.',
    );
  });

  it('names no price that may be chance, and lower loads to look at where the lowest pays', () => {
    const later = ({ ttft_seconds: first, seed }: RunReport, at: number) => ({
      queue_grew: false,
      ttft_seconds: { ...first, p99: at === 2 ? 4 ** seed : 10 },
    });
    const { sentence } = outcome(
      [
        [10, 10, 5, 5],
        [20, 20, 10, 9],
        [40, 40, 20, 9],
      ],
      later,
    );
    expect(sentence.split('\n').slice(0, 2)).toEqual([
      'plas pays at all of these loads: programs up to 2.0x faster. No price is certain.',
      'It may pay below 0.1, too: run again with --rate auto, which looks for the least that does.',
    ]);
    expect(
      outcome(
        [
          [10, 10, 5, 5],
          [20, 20, 10, 9],
          [40, 40, 20, 9],
        ],
        later,
        SEEDS,
        'rate',
      ).sentence,
    ).toContain('\nIt may pay below 0.1, too: the search ended');
  });

  it('names what is lost where only the first setting sustains the load, certain or not', () => {
    const grown = ({ seed }: RunReport, at: number) => ({
      queue_grew: at === 10,
      ...(at === 10 && { program_seconds: { mean: 40 * seed } as RunReport['program_seconds'] }),
    });
    const told = (change: (run: RunReport, at: number) => Partial<RunReport>) =>
      outcome(
        [
          [10, 10, 10, 5],
          [20, 20, 20, 9],
          [40, 40, 120, 9],
        ],
        change,
      ).rows.at(-1);
    expect(told(grown)).toContain('plas overloaded; ');
    expect(told((_, at) => ({ queue_grew: at === 10 }))).toContain('plas overloaded, 3.0x slower*; ');
    // Too few programs to know whether the first sustains it: being overloaded is no loss against that.
    const few = { queue_grew: null, programs: 30 };
    expect(told((run, at) => ({ ...grown(run, at), ...(at === 8 && few) }))).toMatch(
      /plas about \d+ seeds would tell; /,
    );
  });

  it('takes what sustains a load that overloads the first, and no faster one that does not', () => {
    const grown = (_: RunReport, at: number) => ({ queue_grew: [8, 9].includes(at) });
    const { rows, choice } = outcome(
      [
        [10, 10, 10, 5],
        [20, 20, 20, 9],
        [40, 10, 20, 9],
      ],
      grown,
      SEEDS,
    );
    expect(rows.at(-1)).toContain('fcfs-window both overloaded; plas 2.0x faster*');
    expect(choice).toBe(2);
  });

  it('takes no setting that is overloaded where the first is not, however fast', () => {
    const grown = (_: RunReport, at: number) => ({ queue_grew: at === 10 });
    const { choice } = outcome(
      [
        [10, 10, 10, 5],
        [20, 20, 20, 9],
        [40, 40, 20, 9],
      ],
      grown,
    );
    expect(choice).toBe(0);
    expect(
      outcome(
        [
          [10, 10, 10, 5],
          [20, 20, 20, 9],
          [40, 40, 20, 9],
        ],
        () => ({ queue_grew: false }),
      ).choice,
    ).toBe(2);
  });

  it('keeps the first setting where none is better, and where a better one fails programs', () => {
    const { sentence, choice, rows } = outcome(
      [
        [10, 11, 12, 5],
        [20, 20, 20, 9],
        [400, 410, 200, 90],
      ],
      (_, at) => ({ failed: at === 10 ? 1 : 0 }),
    );
    expect(sentence.split('\n')).toEqual([
      'Keep pass-through: nothing is significantly better at loads that can be sustained. Most is lost: programs 20 % slower; first token p99 20 % slower (10 -> 12 s) under plas at 0.1 a second.',
      'Sustained in most seeds: up to 0.2 a second.',
    ]);
    expect(rows[0]).toContain('fcfs-window 10 % slower; plas 20 % slower');
    expect(choice).toBe(0);
  });
});
