import { expect, it } from 'vitest';
import type { SimDocument } from '../../cli/sim/document.js';
import { ratioLines } from '../../cli/sim/ratios.js';
import type { Plan } from '../../cli/sim/plan.js';
import { tablesOf } from '../../cli/sim/tables.js';
import type { RunReport } from '../../cli/sim/worker.js';
import { madeUp, spread } from '../support/sim-plans.js';

const SEEDS_8 = [1, 2, 3, 4, 5, 6, 7, 8];
const kind = (p99: number) => ({
  program_seconds: { count: 100, p99 },
  seconds_per_token: spread(1),
  ttft_seconds: spread(1),
});
const kinds = (p99: number) => ({ rag: kind(p99), coder: kind(1) }) as unknown as RunReport['by_workload'];

it('has a row for each setting and load, one of the seeds that both sustain, and one of the kind that pays', () => {
  const { plan, runs } = madeUp(
    { rate: [0.1, 0.2, 0.4], policy: ['pass-through', 'plas'] },
    { seeds: SEEDS_8 },
    (at, seed) => ({
      program_seconds: spread(at === 3 ? 5 : at === 2 && seed > 5 ? 50 : 10),
      queue_grew: at > 3 || (at === 2 && seed > 5),
      by_workload: kinds(at === 3 ? 25 : 10),
    }),
  );
  expect(ratioLines(plan, runs, 140)).toEqual([
    'Times divided by those of pass-through: below 1 is faster.',
    expect.stringMatching(/^ +program +call to first token$/),
    expect.stringMatching(/^rate {2}policy +verdict +mean +p99 +p99$/),
    expect.stringMatching(/^0\.1 {3}plas +no difference( +1\.00){3}$/),
    expect.stringMatching(/^0\.2 {3}plas +5\.0x faster\* +0\.20 \(.*\) .*$/),
    expect.stringMatching(/^0\.2 {3}plas +\(5 of 8 seeds\) +0\.50 \(0\.50–0\.50\) /),
    expect.stringMatching(/^0\.2 {3}plas +\(rag, 5 of 8 seeds\) +- +2\.50 \(2\.50–2\.50\) +1\.00$/),
    'Left out: 1 row, as both settings are overloaded.',
    '* It grows with the number of programs, as one of both is overloaded, in some seeds at least.',
    'Seeds in brackets: the row is of those alone, which overload neither; the times below are of all.',
    'A kind of program in brackets: the row is of that alone.',
  ]);
});

it('compares policies, and circumstances with the first, but no loads', () => {
  const told = (lists: object) => {
    const { plan, runs } = madeUp(lists, {}, () => ({ program_seconds: spread(10, 30) }));
    return ratioLines(plan, runs, 120).map((line) => line.replaceAll(/ {2,}/g, '  '));
  };
  expect(told({ policy: ['pass-through', 'fcfs-window', 'plas'] }).slice(2)).toEqual([
    'policy  verdict  mean  slowest  p50  slowest',
    ...['fcfs-window', 'plas'].map((name) => `${name}  no difference  1.00  1.00  1.00  1.00`),
  ]);
  const { plan, runs } = madeUp({ policy: ['pass-through', 'plas'] }, { seeds: [1] }, (_, seed) => ({
    program_seconds: { ...spread(10, 300), p50: seed },
  }));
  expect(ratioLines(plan, runs, 120).join('\n')).not.toContain('Seeds in brackets');
  expect(told({ conditions: ['none', 'production'] })[0]).toBe(
    'Times divided by those without failures: below 1 is faster.',
  );
  expect(told({ rate: [1, 2] })).toEqual([]);
  // Of a few that fail more, the times are told.
  const fails = (failed: number) =>
    ratioLines(
      ...(Object.values(madeUp({ policy: ['pass-through', 'plas'] }, {}, (at) => ({ failed: at * failed }))) as [
        Plan,
        RunReport[],
      ]),
      120,
    ).at(-1);
  expect([fails(9), fails(999)]).toEqual([
    expect.stringMatching(/fails more programs: 0 -> 9( +1\.00){4}$/),
    expect.stringMatching(/ 999( +-){4}$/),
  ]);
});

it('tells in a sweep how much is served, and no kinds of programs', () => {
  const given = { source: { type: 'workload', workload: 'x' } } as const;
  const { plan, runs } = madeUp({ rate: [0.1, 0.2], policy: ['pass-through', 'plas'] }, given, () => ({
    refused: {},
    by_workload: kinds(10),
  }));
  const document = { complete: true, advice: [], ratios: [] } as unknown as SimDocument;
  const text = tablesOf(plan, runs, document, 140);
  expect(text).toMatch(/ programs\/s +cached +failed\n0\.1 .* 0\.3 /);
  expect(text).not.toContain('coder');
});
