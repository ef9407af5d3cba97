import { describe, expect, it } from 'vitest';
import { type Plan, settingOf } from '../../cli/sim/plan.js';
import { recommend } from '../../cli/sim/recommendation.js';
import { verdictsOf } from '../../cli/sim/verdicts.js';
import type { RunReport } from '../../cli/sim/worker.js';
import { parseSlo } from '../../loadtest/report/index.js';
import { madeUp, spread } from '../support/sim-plans.js';

const RATES = [0.1, 0.2, 0.4];
const POLICIES = ['pass-through', 'fcfs-window', 'plas', 'srpt'] as const;
const SEEDS = [1, 2, 3];
const SEEDS_8 = [1, 2, 3, 4, 5, 6, 7, 8];

/** Runs in which a program takes as many seconds as the table says, for each rate and policy; seeds differ a little. */
function outcome(
  table: readonly (readonly number[])[],
  change: (run: RunReport, at: number) => Partial<RunReport> = () => ({}),
  seeds: readonly number[] = SEEDS,
  searched?: 'rate',
  programs = 300,
) {
  const secondsOf = (variant: number) => table[Math.floor(variant / POLICIES.length)]![variant % POLICIES.length]!;
  const { plan, runs } = madeUp({ rate: RATES, policy: POLICIES }, { seeds, searched, programs }, (at, seed) => ({ program_seconds: spread(secondsOf(at) * (1 + seed / 1000)), queue_grew: at >= 8 })); // prettier-ignore
  const changed = runs.map((run) => ({ ...run, ...change(run, run.variant) }));
  return { ...recommend(plan, changed)!, rows: rowsOf(plan, changed) };
}

/** What each setting changes: a line for each load. */
const rowsOf = (plan: Plan, runs: readonly RunReport[]) =>
  verdictsOf(plan, runs).map(({ place, rows, variants }) => `${place}: ${rows.map(({ at, outcome }) => `${settingOf(plan, variants[at]!)} ${outcome}`).join('; ')}`); // prettier-ignore
const lastOf = (plan: Plan, runs: readonly RunReport[]) => verdictsOf(plan, runs).at(-1)!.rows;

describe('the verdict over several loads', () => {
  it('is an answer, what each setting sustains, and a row for each load and setting', () => {
    const { sentence, choice, rows } = outcome([[10, 10, 10, 5], [20, 20, 14, 9], [400, 205, 200, 90]]); // prettier-ignore
    expect(sentence.split('\n')).toEqual([
      'plas pays at 0.2 a second, the most that is sustained: programs 30 % faster. No price is certain.',
      'Sustained in most seeds: up to 0.2 a second.',
    ]);
    expect(rows).toEqual([
      'At 0.1 a second: fcfs-window no difference; plas no difference; srpt 2.0x faster',
      'At 0.2 a second: fcfs-window no difference; plas 30 % faster; srpt 2.2x faster',
      'At 0.4 a second: fcfs-window both overloaded; plas both overloaded; srpt both overloaded',
    ]);
    expect(choice).toBe(2);
  });

  it('tells which setting sustains more, where the queue of others grows in most of its runs', () => {
    const grown = ({ seed }: RunReport, at: number) => ({ queue_grew: [4, 5].includes(at) ? seed > 1 : [6, 7].includes(at) ? seed > 6 : at > 7 }); // prettier-ignore
    const { sentence, rows } = outcome([[10, 10, 10, 5], [60, 60, 14, 9], [400, 400, 200, 90]], grown, SEEDS_8); // prettier-ignore
    expect(sentence).toMatch(/\nSustained in most seeds: pass-through and fcfs-window up to 0\.1 a second; plas and srpt up to 0\.2 a second \(6 of 8\)\.$/m); // prettier-ignore
    expect(rows[1]).toContain('plas 4.3x faster*');
  });

  it('takes nothing whose gain hangs on a seed that overloads the first and not the other', () => {
    // A seed more overloads the first, and in all that both sustain nothing differs.
    const told = (at: number, more: number, fewer: number) => {
      const grown = ({ seed }: RunReport, variant: number) => ({ queue_grew: variant > 7 || (variant > 3 && seed > 8 - (variant === at ? more : fewer)), ...(variant === at && seed > 4 && { program_seconds: spread(600) }) }); // prettier-ignore
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
    expect(sentence).toMatch(/^Too few programs to tell whether anything is better .*: run again with --programs 1200, .*\n.*: pass-through up to 0\.1 a second; fcfs-window, plas and srpt up to 0\.2 a second \(5 of 8\)\.$/m); // prettier-ignore
    // A gain of those that both sustain is one.
    expect(rows[1]).toContain('srpt 6.7x faster (4 of 8 seeds)');
    // Seeds that are left out hide no gain of one that sustains no more of them.
    const { rows: kept, sentence: keep } = told(6, 4, 3);
    expect([kept[1], keep]).toEqual([expect.stringContaining('plas no difference (4 of 8 seeds); '), expect.stringMatching(/^Keep pass-through: /)]); // prettier-ignore
    // Three more are no chance, and the price of those is told.
    expect(told(4, 4, 1)).toMatchObject({ choice: 2, sentence: expect.stringContaining(', for certain only with seeds that overload pass-through.') as string }); // prettier-ignore
  });

  it('hides no certain gain behind a load that tells nothing, nor a setting that is as good', () => {
    const noisy = ({ seed }: RunReport, at: number) =>
      at === 9 || at === 10
        ? { queue_grew: false, program_seconds: { mean: seed === 1 ? 190 : 210 } as RunReport['program_seconds'] }
        : { queue_grew: false };
    const { rows } = outcome([[10, 9, 11, 5], [20, 20, 20, 20], [400, 200, 201, 90]], noisy); // prettier-ignore
    expect(rows[2]).toContain('fcfs-window 2.0x faster; plas 2.0x faster');
    expect(rows[0]).toContain('fcfs-window 10 % faster');
  });

  it('names the kind of program that pays', () => {
    const kinds = (count: number) => ({ seed }: RunReport, at: number) => ({ queue_grew: false, by_workload: { rag: { program_seconds: { count, p99: at === 10 ? 446 : 217 }, ttft_seconds: { count, p99: at === 10 ? 40 : 10 } }, coder: { program_seconds: { count, p99: at === 10 ? 99 * seed : 98 }, ttft_seconds: { count: 1 } } } }) as unknown as Partial<RunReport>; // prettier-ignore
    const table = [[1, 1, 1, 1], [1, 1, 1, 1], [400, 400, 200, 90]]; // prettier-ignore
    // The p99 of fewer is their slowest, which is chance.
    expect(outcome(table, kinds(99)).sentence).not.toContain('pays: ');
    expect(outcome(table, kinds(100)).sentence.split('\n')[0]).toBe('plas pays at 0.4 a second: programs 2.0x faster. Price: rag pays: first token p99 4.0x slower.'); // prettier-ignore
  });

  it('names the times that are worse where they are worst', () => {
    const later = ({ ttft_seconds: first, seed }: RunReport, at: number): Partial<RunReport> => {
      const factor = ({ 6: 1.5, 10: 4 } as Record<number, number>)[at] ?? 1;
      // Of one in three seeds: no certain difference.
      const p50 = at === 10 && seed === 1 ? 9 * first.p50! : first.p50!;
      return { queue_grew: false, ttft_seconds: { ...first, p50, p99: factor * 10 } };
    };
    const { sentence } = outcome([[10, 10, 10, 5], [20, 20, 14, 9], [400, 400, 200, 90]], later); // prettier-ignore
    expect(sentence.split('\n')[0]).toBe('plas pays from 0.2 to 0.4 a second: programs up to 2.0x faster. Price: first token p99 4.0x slower (10 -> 40 s) at 0.4 a second.'); // prettier-ignore
  });

  it('names no price that may be chance, and lower loads to look at where the lowest pays', () => {
    const later = ({ ttft_seconds: first, seed }: RunReport, at: number) => ({ queue_grew: false, ttft_seconds: { ...first, p99: at === 2 ? 4 ** seed : 10 } }); // prettier-ignore
    const { sentence } = outcome([[10, 10, 5, 5], [20, 20, 10, 9], [40, 40, 20, 9]], later); // prettier-ignore
    expect(sentence.split('\n').slice(0, 2)).toEqual([
      'plas pays at all of these loads: programs up to 2.0x faster. No price is certain.',
      'It may pay below 0.1, too: run again with --rate auto, which looks for the least that does.',
    ]);
    expect(outcome([[10, 10, 5, 5], [20, 20, 10, 9], [40, 40, 20, 9]], later, SEEDS, 'rate').sentence).toContain('\nIt may pay below 0.1, too: the search ended'); // prettier-ignore
  });

  it('names what is lost where only the first setting sustains the load, certain or not', () => {
    const grown = ({ seed }: RunReport, at: number) => ({ queue_grew: at === 10, ...(at === 10 && { program_seconds: { mean: 40 * seed } as RunReport['program_seconds'] }) }); // prettier-ignore
    const told = (change: (run: RunReport, at: number) => Partial<RunReport>) => outcome([[10, 10, 10, 5], [20, 20, 20, 9], [40, 40, 120, 9]], change).rows.at(-1); // prettier-ignore
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
    const { rows, choice } = outcome([[10, 10, 10, 5], [20, 20, 20, 9], [40, 10, 20, 9]], grown, SEEDS); // prettier-ignore
    expect(rows.at(-1)).toContain('fcfs-window both overloaded; plas 2.0x faster*');
    expect(choice).toBe(2);
  });

  it('takes no setting that is overloaded where the first is not, however fast', () => {
    const grown = (_: RunReport, at: number) => ({ queue_grew: at === 10 });
    const { choice } = outcome([[10, 10, 10, 5], [20, 20, 20, 9], [40, 40, 20, 9]], grown); // prettier-ignore
    expect(choice).toBe(0);
    expect(outcome([[10, 10, 10, 5], [20, 20, 20, 9], [40, 40, 20, 9]], () => ({ queue_grew: false })).choice).toBe(2); // prettier-ignore
  });

  it('keeps the first setting where none is better, and where a better one fails programs', () => {
    const { sentence, choice, rows } = outcome([[10, 11, 12, 5], [20, 20, 20, 9], [400, 410, 200, 90]], (_, at) => ({ failed: at === 10 ? 1 : 0 })); // prettier-ignore
    expect(sentence.split('\n')).toEqual([
      'Keep pass-through: nothing is significantly better at loads that can be sustained. Most is lost: programs 20 % slower; first token p99 20 % slower (10 -> 12 s) under plas at 0.1 a second.',
      'Sustained in most seeds: up to 0.2 a second.',
    ]);
    expect(rows[0]).toContain('fcfs-window 10 % slower; plas 20 % slower');
    expect(choice).toBe(0);
  });
});

it('takes a load that programs reach too fast to tell for overloaded where a lower one is', () => {
  const few = { queue_grew: null, programs: 30 };
  const told = (grown: number) => outcome([[10, 10, 10, 5], [20, 20, 20, 9], [40, 40, 20, 9]], (_, at) => (at >= 8 ? few : { queue_grew: at >= 4 && at < grown })).rows.at(-1); // prettier-ignore
  expect(told(8)).toContain('plas both overloaded');
  // Of the other settings, nobody knows.
  expect(told(5)).toContain('plas 2.0x faster*');
});

const SEEDS_28 = [...Array(28).keys()];
const worn = (variant: number) => ({ seed }: RunReport, at: number) => ({ queue_grew: at === variant && seed > 16, ...(at === variant && seed > 16 && { program_seconds: { mean: 400 } as RunReport['program_seconds'] }) }); // prettier-ignore

it('a load at the edge is compared over all seeds, whichever setting some of them overload, and over those that both sustain', () => {
  const { plan, runs } = madeUp({ rate: [0.4], policy: POLICIES }, { seeds: SEEDS_28 }, () => ({ program_seconds: spread(40) })); // prettier-ignore
  const told = (variant: number) => lastOf(plan, runs.map((run) => ({ ...run, ...worn(variant)(run, run.variant) }))).map(({ outcome: words, times }) => [words, times?.calm?.of, times?.calm?.programs.mean.ratio]); // prettier-ignore
  const calm = ['17 of 28 seeds', 1];
  expect(told(0).slice(0, 2)).toEqual(Array(2).fill(['4.5x faster*', ...calm]));
  expect(told(2).slice(0, 2)).toEqual([['no difference', undefined, undefined], ['4.5x slower*', ...calm]]); // prettier-ignore
  const better = outcome([[10, 10, 10, 5], [20, 20, 20, 9], [40, 40, 40, 9]], worn(8), SEEDS_28); // prettier-ignore
  expect(better).toMatchObject({ choice: 2, sentence: expect.stringContaining(', for certain only with seeds that overload pass-through.') as string }); // prettier-ignore
  // Nobody knows whether the others sustain it.
  const short = runs.map((run) => ({ ...run, ...worn(0)(run, run.variant), ...(run.seed <= 16 && { queue_grew: null, programs: 30 }) })); // prettier-ignore
  expect(lastOf(plan, short)[0]?.times?.calm).toBeUndefined();
});

it('a gain and its price are of the same seeds: those that both sustain, if these have the gain, and else all', () => {
  const given = (mean: number) => {
    const { plan, runs } = madeUp(
      { rate: [0.4], policy: ['pass-through', 'plas'] },
      { seeds: SEEDS_28 },
      (at, seed) => {
        const isFull = at === 0 && seed > 16;
        const rag = {
          program_seconds: spread(1),
          ttft_seconds: { ...spread(1), p99: isFull ? 300 : at === 1 ? 5 : 3 },
        };
        return { program_seconds: spread(isFull ? 400 : at === 1 ? mean : 40), queue_grew: isFull, ttft_seconds: rag.ttft_seconds, by_workload: { rag } }; // prettier-ignore
      },
    );
    return recommend(plan, runs)!;
  };
  const told = (mean: number) => given(mean).sentence.split('\n')[0];
  expect(told(20)).toBe('Take plas: programs 2.0x faster than pass-through (0.50, 0.50–0.50) in the 17 of 28 seeds that both sustain; first token p50 the same, p99 1.7x slower. rag pays: first token p99 1.7x slower.'); // prettier-ignore
  expect(told(40)).toMatch(/^Take plas: programs 4\.5x faster than .*, 1\.00 \(1\.00–1\.00\) in the 17 of 28 seeds that both sustain; first token p50 the same, p99 23\.9x faster \(120 -> 5 s\)\.$/); // prettier-ignore
});

it('equal settings leave the choice to the gateway’s default, which chance cannot change, but a price can', () => {
  const kept = () => ({ queue_grew: false });
  // A little faster at each load, but not for certain.
  const near = ({ seed }: RunReport, at: number) => at % 4 === 1 ? { queue_grew: false, program_seconds: { mean: seed % 2 === 0 ? 4 : 5.8 } as RunReport['program_seconds'] } : kept(); // prettier-ignore
  const table = (gate: number) => [
    [10, gate, 5, 4],
    [10, gate, 5, 4],
    [10, gate, 5, 4],
  ];
  expect(outcome(table(5), near, SEEDS_8)).toMatchObject({ choice: 2, sentence: expect.stringMatching(/^plas pays at all/) as string }); // prettier-ignore
  expect(outcome(table(4), kept, SEEDS_8)).toMatchObject({ choice: 1, sentence: expect.stringMatching(/^fcfs-window pays at all/) as string }); // prettier-ignore
  const dearer = ({ ttft_seconds: first }: RunReport, at: number) => ({ ...kept(), ttft_seconds: { ...first, p99: at % 4 === 2 ? 40 : 10 } }); // prettier-ignore
  expect(outcome(table(5), dearer, SEEDS_8).choice).toBe(1);
});

it('a gain is none where nothing sustains the load in most seeds', () => {
  const grown = ({ seed }: RunReport, at: number) => ({ queue_grew: at > 7 && seed > 3 });
  const table = [[10, 10, 10, 5], [10, 10, 10, 9], [400, 400, 200, 90]]; // prettier-ignore
  const { sentence, choice, rows } = outcome(table, grown, SEEDS_8);
  expect(sentence).toMatch(/^Keep pass-through: nothing is significantly better at loads that can be sustained\.\n.*Sustained in most seeds/); // prettier-ignore
  expect(rows.at(-1)).toContain('plas both overloaded');
  expect(choice).toBe(0);
  const unsure = (run: RunReport, at: number) => ({ ...grown(run, at), ...(at === 2 && { program_seconds: { mean: run.seed % 2 === 0 ? 4 : 12 } as RunReport['program_seconds'] }) }); // prettier-ignore
  const { sentence: open } = outcome(table, unsure, SEEDS_8);
  expect(open).toMatch(/^Too few seeds and programs to tell whether anything is better than pass-through at loads that can be sustained: run again/); // prettier-ignore
});

it('names the places where a setting is better, of few', () => {
  const { plan, runs } = madeUp({ engines: [1, 2, 4], policy: ['pass-through', 'plas'] }, {}, (at) => ({ program_seconds: spread(at === 3 ? 5 : 10) })); // prettier-ignore
  expect(recommend(plan, runs)!.sentence).toContain(
    '\nplas is better than pass-through on 2 engines: programs 2.0x faster. No price is certain.',
  );
});

describe('an objective', () => {
  const slos = [parseSlo('program_seconds.mean < 15', 0, () => '')];
  const told = (rate: readonly number[], seconds: readonly number[]) => {
    const { plan, runs } = madeUp({ rate, policy: ['pass-through', 'plas'] }, { slos }, (at) => ({ program_seconds: spread(seconds[at] ?? 0) })); // prettier-ignore
    return [...recommend(plan, runs)!.sentence.split('\n'), ...rowsOf(plan, runs)];
  };

  it('is met at the loads at which a setting is said to pay', () => {
    expect(told([0.1, 0.2, 0.4], [10, 10, 20, 10, 40, 20])).toEqual([
      'plas pays at 0.2 a second, the most that is sustained: programs 2.0x faster. No price is certain.',
      'Sustained with program_seconds.mean < 15 in most seeds: pass-through up to 0.1 a second; plas up to 0.2 a second.', // prettier-ignore
      'At 0.1 a second: plas no difference',
      'At 0.2 a second: plas 2.0x faster',
      'At 0.4 a second: plas 2.0x faster, misses the objective',
    ]);
    expect(told([0.2, 0.4], [30, 20, 40, 20])[0]).toBe('Sustained with program_seconds.mean < 15 in most seeds: none of these. Nearest: plas at 0.2 a second, program_seconds.mean 20.'); // prettier-ignore
  });

  it('that no setting meets leaves none to be taken at a single load', () => {
    expect(told([0.4], [40, 20]).slice(0, 2)).toEqual([
      'No setting meets program_seconds.mean < 15 at this load: run again with --rate auto, which looks for those at which one does.',
      'Seeds that sustain this load with program_seconds.mean < 15: 0 of 3. Nearest: plas, program_seconds.mean 20.',
    ]);
    expect(told([0.4], [40, 10])[0]).toMatch(/^Take plas: /);
  });
});

describe('what runs leave open', () => {
  const answerOf = (...given: Parameters<typeof outcome>) =>
    outcome(...given)
      .sentence.split('\n')
      .slice(0, 2)
      .join(' ');
  const FLAT = [[10, 10, 10, 5], [10, 10, 10, 9], [10, 10, 10, 9]]; // prettier-ignore
  const wide = (from: number) => ({ seed }: RunReport, at: number) => at % 4 === 2 && at >= from && at < 8 ? { program_seconds: { mean: 4 * seed } as RunReport['program_seconds'] } : {}; // prettier-ignore

  it('is answered by more seeds, never by a verdict for the first setting', () => {
    const { sentence, choice, rows } = outcome(FLAT, wide(0), SEEDS);
    expect(sentence).toMatch(/^Too few seeds and programs to tell whether anything is better than pass-through at loads that can be sustained: run again with --seed 1\.\.16 --programs 1200, about 21 times as long\.\n/); // prettier-ignore
    expect(rows[0]).toContain('plas about 49 seeds would tell');
    expect(choice).toBe(0);
    const even = ({ seed }: RunReport, at: number) => at % 4 === 2 ? { program_seconds: { mean: seed % 2 === 0 ? 4 : 16 } as RunReport['program_seconds'] } : {}; // prettier-ignore
    const odd = ({ seed }: RunReport, at: number) => at % 4 === 2 ? { program_seconds: { mean: seed % 2 === 0 ? 4 : 12 } as RunReport['program_seconds'] } : {}; // prettier-ignore
    expect(outcome(FLAT, odd, SEEDS_8).sentence).toContain('run again');
    // Many more would hardly tell, and as many as it says to run decide; but longer runs differ less, up to a length.
    for (const [change, seeds] of [
      [even, SEEDS_8],
      [odd, [...Array(16).keys()]],
    ] as const) {
      const last = outcome(FLAT, change, seeds);
      expect(last.rows[0]).toContain('plas too uneven to tell');
      expect(last.sentence).toMatch(/^Too few programs to tell whether anything is better than pass-through at .*: run again with --programs 1200, about 4 times as long\.\n/); // prettier-ignore
      const long = outcome(FLAT, change, seeds, undefined, 1001).sentence;
      expect(long).toMatch(/^These runs cannot tell whether anything is better than pass-through\.\n/);
      expect(long).not.toMatch(/run again|would tell/);
    }
  });

  it('is answered by no command of too many runs', () => {
    const window = Array.from({ length: 250 }, (_, at) => at + 1);
    const { plan, runs } = madeUp({ rate: [1], window }, { seeds: [1, 2, 3, 4] }, (at) => ({ ttft_seconds: spread(at + 1), calls: 900 })); // prettier-ignore
    expect(recommend(plan, runs)!.sentence).not.toContain('--seed');
  });

  it('is answered by more seeds where a lower load may show a gain too', () => {
    const held = (run: RunReport, at: number) => ({ queue_grew: false, ...wide(4)(run, at) });
    expect(answerOf([[10, 10, 10, 5], [10, 10, 10, 9], [400, 400, 200, 90]], held)).toMatch(/^plas pays at 0\.4 .* Too few seeds and programs to tell whether it pays below: run again with --seed 1\.\.16 --programs 1200, about 21 times as long\.$/); // prettier-ignore
  });

  it('is answered by a search where the first setting sustains no load, or some setting each', () => {
    expect(answerOf([[10, 10, 5, 5], [20, 20, 9, 9], [40, 40, 20, 9]], () => ({ queue_grew: true }))).toBe('pass-through sustains none of these loads: run again with --rate auto, which looks for those that it does. Sustained in most seeds: none of these.'); // prettier-ignore
    // However few tell, most seeds overload all.
    const most = ({ seed }: RunReport) => ({ queue_grew: seed < 3 ? true : null, programs: 30, slowdown: { mean: 5 } }) as Partial<RunReport>; // prettier-ignore
    expect(answerOf(FLAT, most)).toMatch(/^pass-through sustains none of these loads: run again with --rate auto/);
    expect(answerOf(FLAT, () => ({ queue_grew: false }))).toBe('Keep pass-through: nothing is significantly better. A higher load may show a gain: run again with --rate auto, which looks for one.'); // prettier-ignore
  });

  it('is answered by more programs where too few came to tell', () => {
    const few = (_: RunReport, at: number) => ({ programs: 30, queue_grew: at >= 8, queue_seconds: { count: 0, mean: null }, slowdown: { mean: 0.5 } }) as Partial<RunReport>; // prettier-ignore
    expect(answerOf(FLAT, few)).toMatch(/^Too few programs to tell whether all of these loads are sustained: run again with --programs \d+, about \d+ times as long\. Sustained in most seeds: at least up to 0\.2 a second\.$/); // prettier-ignore
    // All at once, no number of programs would.
    const burst = ({ program_seconds: times }: RunReport) => ({ programs: 3, programs_per_second: 0.002, queue_grew: false, program_seconds: times, slowdown: { mean: 0.0001 } }) as Partial<RunReport>; // prettier-ignore
    expect(answerOf(FLAT, burst)).toMatch(/^Too few programs to tell .*: run again with --rate auto, which looks for loads of which so few tell\. .*: unknown, with so few programs\.$/); // prettier-ignore
  });

  it('is answered by more programs where a higher load gains too, but nobody knows whether it is sustained', () => {
    const few = (_: RunReport, at: number) => (at < 8 ? { queue_grew: false } : { queue_grew: null, programs: 30, slowdown: { mean: 0.1 } as RunReport['slowdown'] }); // prettier-ignore
    const { sentence, rows } = outcome([[10, 10, 10, 5], [20, 20, 14, 9], [40, 40, 20, 9]], few); // prettier-ignore
    expect(sentence).toMatch(/^plas pays at 0\.2 a second, the most that is sustained:.*\nToo few programs to tell whether all of these loads are sustained: run again with --programs \d+, about \d+ times as long\./); // prettier-ignore
    expect(rows.at(-1)).toContain('plas 2.0x faster, if it lasts');
  });

  it('takes nothing for a gain of a burst', () => {
    const burst = () => ({ programs: 30, queue_grew: null }) as Partial<RunReport>;
    const { sentence, choice, rows } = outcome([[10, 10, 5, 5], [20, 20, 9, 9], [40, 40, 20, 9]], burst); // prettier-ignore
    expect(sentence).toMatch(/^Too few programs to tell whether all of these loads are sustained: /);
    expect(rows[0]).toContain('plas 2.0x faster, if it lasts');
    expect(choice).toBe(0);
  });
});
