import { describe, expect, it } from 'vitest';
import type { ProgramOutcome } from '../../demo/replay.js';
import { compare, summarize, text, type Run } from '../../demo/report.js';

const outcome = (id: string, seconds: number, more: Partial<ProgramOutcome> = {}): ProgramOutcome => ({
  id,
  seconds,
  calls: 2,
  seenAs: new Set([`seen-${id}`]),
  overheadSeconds: seconds / 100,
  ...more,
});

const run = (outcomes: readonly ProgramOutcome[], more: Partial<Run> = {}): Run => ({
  policy: 'plas',
  seed: 1,
  speed: 10,
  outcomes,
  prefix: { queries: 1000, hits: 250 },
  view: { programs: outcomes.length, promptTokens: 400, cachedTokens: 100, queuedSeconds: 3, promotions: 2 },
  ...more,
});

/** The table's cells by title, a row each. */
function cells(page: string): Record<string, string>[] {
  const lines = page.split('\n').map((line) => line.trim().split(/ {2,}/));
  const start = lines.findIndex(([first]) => first === 'policy');
  const [titles, ...rest] = lines.slice(start);
  return rest
    .slice(
      0,
      rest.findIndex(([first]) => first === ''),
    )
    .map((row) => Object.fromEntries(titles!.map((title, column) => [title, row[column] ?? ''])));
}

describe('a summary', () => {
  it('gives mean, median and the largest of few as p99', () => {
    const summary = summarize('plas', [run([outcome('a', 10), outcome('b', 20), outcome('c', 60), outcome('d', 30)])]);
    expect(summary).toMatchObject({
      programs: 4,
      meanSeconds: 30,
      p50Seconds: 20,
      p99Seconds: 60,
      makespanSeconds: 60,
      calls: 8,
      failures: 0,
    });
    expect(summary.hitRate).toBe(0.25);
    expect(summary.overheadShare).toBeCloseTo(0.01);
  });

  it('gives the 99th of a hundred as p99', () => {
    const outcomes = Array.from({ length: 100 }, (_, index) => outcome(`${index}`, 100 - index));
    expect(summarize('plas', [run(outcomes)])).toMatchObject({ p50Seconds: 50, p99Seconds: 99, makespanSeconds: 100 });
  });

  it('takes runs of several seeds as one, and the makespan as their mean', () => {
    const runs = [run([outcome('a', 10)]), run([outcome('a', 30)], { prefix: { queries: 3000, hits: 2750 } })];
    expect(summarize('plas', runs)).toMatchObject({
      programs: 2,
      meanSeconds: 20,
      makespanSeconds: 20,
      hitRate: 0.75,
      gateway: { programs: 2, programsRight: 2 },
    });
  });

  it('counts a program as right when all its calls were taken for one that is no other’s', () => {
    const outcomes = [
      outcome('whole', 1),
      outcome('torn', 1, { seenAs: new Set(['x', 'y']) }),
      outcome('mixed', 1, { seenAs: new Set(['z']) }),
      outcome('also mixed', 1, { seenAs: new Set(['z']) }),
      outcome('never answered', 1, { seenAs: new Set() }),
    ];
    expect(summarize('plas', [run(outcomes)]).gateway.programsRight).toBe(1);
  });

  it('turns the gateway’s own times into real ones', () => {
    const { gateway } = summarize('plas', [run([outcome('a', 10), outcome('b', 10)])]);
    expect(gateway).toEqual({ programs: 2, programsRight: 2, hitRate: 0.25, queuedSecondsMean: 15, promotions: 2 });
  });

  it('knows no hit rate where nothing was counted', () => {
    const view = { programs: 1, promptTokens: 0, cachedTokens: 0, queuedSeconds: 0, promotions: 0 };
    const summary = summarize('plas', [run([outcome('a', 10)], { prefix: { queries: 0, hits: 0 }, view })]);
    expect(summary.hitRate).toBeNull();
    expect(summary.gateway.hitRate).toBeNull();
    expect(cells(text([summary], [], 'live'))[0]).toMatchObject({ cached: '-' });
  });
});

describe('the table', () => {
  const passThrough = summarize('pass-through', [
    run([outcome('a', 1000), outcome('b', 2000)], { policy: 'pass-through' }),
  ]);
  const plas = summarize('plas', [run([outcome('a', 500), outcome('b', 1000, { failure: 'late' })])]);

  it('has a row for each policy', () => {
    expect(cells(text([passThrough, plas], [], 'live'))).toMatchObject([
      {
        policy: 'pass-through',
        'mean s': '1,500',
        'p50 s': '1,000',
        'p99 s': '2,000',
        cached: '25.0 %',
        failed: '0',
      },
      { policy: 'plas', 'mean s': '750', 'p50 s': '500', 'p99 s': '1,000', cached: '25.0 %', failed: '1' },
    ]);
  });

  it('compares each policy with the first', () => {
    expect(compare([passThrough, plas])).toEqual([
      { policy: 'plas', against: 'pass-through', mean: 2, p50: 2, p99: 2 },
    ]);
    expect(compare([passThrough])).toEqual([]);
    expect(compare([])).toEqual([]);
  });

  it('comes after the verdict and its picture, in 80 columns', () => {
    const window = summarize('fcfs-window', [run([outcome('a', 1010), outcome('b', 2010)], { policy: 'fcfs-window' })]);
    const lines = text([passThrough, window, plas], ['about it'], 'live').split('\n');
    expect(lines.slice(0, 4)).toEqual([
      'fcfs-window: programs at most 2 % different from pass-through',
      '             prompt tokens in cache: 25.0 % -> 25.0 %',
      'plas: programs 2.00x faster than pass-through, slowest 2.00x faster',
      '      prompt tokens in cache: 25.0 % -> 25.0 %',
    ]);
    expect(lines.at(-1)).toBe('about it');
    const bars = lines.filter((line) => line.includes('█')).map((line) => line.match(/█/g)!.length);
    expect(bars).toEqual([50, 50, 25]);
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
  });

  it('leaves out of simulated runs what only a gateway can know', () => {
    expect(Object.keys(cells(text([plas], [], 'simulated'))[0]!)).not.toContain('overhead');
  });
});
