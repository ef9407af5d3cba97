import { describe, expect, it } from 'vitest';
import { type Plan } from '../../cli/sim/plan.js';
import { recommend } from '../../cli/sim/recommendation.js';
import { verdictsOf } from '../../cli/sim/verdicts.js';
import type { RunReport } from '../../cli/sim/worker.js';
import { parseSlo } from '../../loadtest/report/index.js';
import { madeUp, spread } from '../support/sim-plans.js';
import { POLICIES, SEEDS_8, outcome, rowsOf } from './sim-outcome.js';

const lastOf = (plan: Plan, runs: readonly RunReport[]) => verdictsOf(plan, runs).at(-1)!.rows;

const SEEDS_28 = [...Array(28).keys()];
const worn =
  (variant: number) =>
  ({ seed }: RunReport, at: number) => ({
    queue_grew: at === variant && seed > 16,
    ...(at === variant && seed > 16 && { program_seconds: { mean: 400 } as RunReport['program_seconds'] }),
  });

it('takes a load that programs reach too fast to tell for overloaded where a lower one is', () => {
  const few = { queue_grew: null, programs: 30 };
  const told = (grown: number) =>
    outcome(
      [
        [10, 10, 10, 5],
        [20, 20, 20, 9],
        [40, 40, 20, 9],
      ],
      (_, at) => (at >= 8 ? few : { queue_grew: at >= 4 && at < grown }),
    ).rows.at(-1);
  expect(told(8)).toContain('plas both overloaded');
  // Of the other settings, nobody knows.
  expect(told(5)).toContain('plas 2.0x faster*');
});

it('a load at the edge is compared over all seeds, whichever setting some of them overload, and over those that both sustain', () => {
  const { plan, runs } = madeUp({ rate: [0.4], policy: POLICIES }, { seeds: SEEDS_28 }, () => ({
    program_seconds: spread(40),
  }));
  const told = (variant: number) =>
    lastOf(
      plan,
      runs.map((run) => ({ ...run, ...worn(variant)(run, run.variant) })),
    ).map(({ outcome: words, times }) => [words, times?.calm?.of, times?.calm?.programs.mean.ratio]);
  const calm = ['17 of 28 seeds', 1];
  expect(told(0).slice(0, 2)).toEqual(Array(2).fill(['4.5x faster*', ...calm]));
  expect(told(2).slice(0, 2)).toEqual([
    ['no difference', undefined, undefined],
    ['4.5x slower*', ...calm],
  ]);
  const better = outcome(
    [
      [10, 10, 10, 5],
      [20, 20, 20, 9],
      [40, 40, 40, 9],
    ],
    worn(8),
    SEEDS_28,
  );
  expect(better).toMatchObject({
    choice: 2,
    sentence: expect.stringContaining(', for certain only with seeds that overload pass-through.') as string,
  });
  // Nobody knows whether the others sustain it.
  const short = runs.map((run) => ({
    ...run,
    ...worn(0)(run, run.variant),
    ...(run.seed <= 16 && { queue_grew: null, programs: 30 }),
  }));
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
        return {
          program_seconds: spread(isFull ? 400 : at === 1 ? mean : 40),
          queue_grew: isFull,
          ttft_seconds: rag.ttft_seconds,
          by_workload: { rag },
        };
      },
    );
    return recommend(plan, runs)!;
  };
  const told = (mean: number) => given(mean).sentence.split('\n')[0];
  expect(told(20)).toBe(
    'Take plas: programs 2.0x faster than pass-through (0.50, 0.50–0.50) in the 17 of 28 seeds that both sustain; first token p50 the same, p99 1.7x slower. rag pays: first token p99 1.7x slower.',
  );
  expect(told(40)).toMatch(
    /^Take plas: programs 4\.5x faster than .*, 1\.00 \(1\.00–1\.00\) in the 17 of 28 seeds that both sustain; first token p50 the same, p99 23\.9x faster \(120 -> 5 s\)\.$/,
  );
});

it('equal settings leave the choice to the gateway’s default, which chance cannot change, but a price can', () => {
  const kept = () => ({ queue_grew: false });
  // A little faster at each load, but not for certain.
  const near = ({ seed }: RunReport, at: number) =>
    at % 4 === 1
      ? { queue_grew: false, program_seconds: { mean: seed % 2 === 0 ? 4 : 5.8 } as RunReport['program_seconds'] }
      : kept();
  const table = (gate: number) => [
    [10, gate, 5, 4],
    [10, gate, 5, 4],
    [10, gate, 5, 4],
  ];
  expect(outcome(table(5), near, SEEDS_8)).toMatchObject({
    choice: 2,
    sentence: expect.stringMatching(/^plas pays at all/) as string,
  });
  expect(outcome(table(4), kept, SEEDS_8)).toMatchObject({
    choice: 1,
    sentence: expect.stringMatching(/^fcfs-window pays at all/) as string,
  });
  const dearer = ({ ttft_seconds: first }: RunReport, at: number) => ({
    ...kept(),
    ttft_seconds: { ...first, p99: at % 4 === 2 ? 40 : 10 },
  });
  expect(outcome(table(5), dearer, SEEDS_8).choice).toBe(1);
});

it('a gain is none where nothing sustains the load in most seeds', () => {
  const grown = ({ seed }: RunReport, at: number) => ({ queue_grew: at > 7 && seed > 3 });
  const table = [
    [10, 10, 10, 5],
    [10, 10, 10, 9],
    [400, 400, 200, 90],
  ];
  const { sentence, choice, rows } = outcome(table, grown, SEEDS_8);
  expect(sentence).toMatch(
    /^Keep pass-through: nothing is significantly better at loads that can be sustained\.\n.*Sustained in most seeds/,
  );
  expect(rows.at(-1)).toContain('plas both overloaded');
  expect(choice).toBe(0);
  const unsure = (run: RunReport, at: number) => ({
    ...grown(run, at),
    ...(at === 2 && { program_seconds: { mean: run.seed % 2 === 0 ? 4 : 12 } as RunReport['program_seconds'] }),
  });
  const { sentence: open } = outcome(table, unsure, SEEDS_8);
  expect(open).toMatch(
    /^Too few seeds and programs to tell whether anything is better than pass-through at loads that can be sustained: run again/,
  );
});

it('names the places where a setting is better, of few', () => {
  const { plan, runs } = madeUp({ engines: [1, 2, 4], policy: ['pass-through', 'plas'] }, {}, (at) => ({
    program_seconds: spread(at === 3 ? 5 : 10),
  }));
  expect(recommend(plan, runs)!.sentence).toContain(
    '\nplas is better than pass-through on 2 engines: programs 2.0x faster. No price is certain.',
  );
});

describe('an objective', () => {
  const slos = [parseSlo('program_seconds.mean < 15', 0, () => '')];
  const told = (rate: readonly number[], seconds: readonly number[]) => {
    const { plan, runs } = madeUp({ rate, policy: ['pass-through', 'plas'] }, { slos }, (at) => ({
      program_seconds: spread(seconds[at] ?? 0),
    }));
    return [...recommend(plan, runs)!.sentence.split('\n'), ...rowsOf(plan, runs)];
  };

  it('is met at the loads at which a setting is said to pay', () => {
    expect(told([0.1, 0.2, 0.4], [10, 10, 20, 10, 40, 20])).toEqual([
      'plas pays at 0.2 a second, the most that is sustained: programs 2.0x faster. No price is certain.',
      'Sustained with program_seconds.mean < 15 in most seeds: pass-through up to 0.1 a second; plas up to 0.2 a second.',
      'At 0.1 a second: plas no difference',
      'At 0.2 a second: plas 2.0x faster',
      'At 0.4 a second: plas 2.0x faster, misses the objective',
    ]);
    expect(told([0.2, 0.4], [30, 20, 40, 20])[0]).toBe(
      'Sustained with program_seconds.mean < 15 in most seeds: none of these. Nearest: plas at 0.2 a second, program_seconds.mean 20.',
    );
  });

  it('that no setting meets leaves none to be taken at a single load', () => {
    expect(told([0.4], [40, 20]).slice(0, 2)).toEqual([
      'No setting meets program_seconds.mean < 15 at this load: run again with --rate auto, which looks for those at which one does.',
      'Seeds that sustain this load with program_seconds.mean < 15: 0 of 3. Nearest: plas, program_seconds.mean 20.',
    ]);
    expect(told([0.4], [40, 10])[0]).toMatch(/^Take plas: /);
  });
});
