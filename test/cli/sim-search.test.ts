import { expect, it } from 'vitest';
import { combinationsOf, type Searched } from '../../cli/sim/axes.js';
import type { Plan } from '../../cli/sim/plan.js';
import { search } from '../../cli/sim/search.js';
import { parseSlo } from '../../loadtest/report/index.js';
import type { RunReport } from '../../cli/sim/worker.js';

interface World {
  /** The most that each policy sustains: a rate, or the same for each engine; or the number at a time from which on calls wait. */
  readonly most: readonly number[];
  /** The load from which on the second policy is faster. */
  readonly pays: number;
  readonly programs?: number;
  readonly last?: number;
  /** Seconds that a program takes under a load, where an objective is about them. */
  readonly seconds?: (load: number) => number;
  readonly objective?: string;
  /** Programs at a time, instead of a rate, where engines are looked for. */
  readonly atOnce?: number | undefined;
  /** Calls of a run of 300 programs. */
  readonly calls?: number;
  /** Programs of fewer of which nobody knows whether the load is sustained. */
  readonly known?: number;
}

/** The values that a search of a modelled world tries, and the values of its plan. */
async function searched(
  axis: Searched,
  { most, pays, programs, last = 10, known = 0, calls = 9000, seconds, objective, atOnce }: World,
  stopAfter = Infinity,
) {
  const policy = ['pass-through', 'plas'] as const;
  const lists = {
    ...(atOnce && { concurrency: [atOnce] }),
    [axis]: [1],
    policy,
    balancer: ['sticky'],
  } as Plan['lists'];
  const arrivals =
    axis === 'concurrency' || atOnce !== undefined
      ? { type: 'closed', concurrency: atOnce ?? 1 }
      : { type: 'open', ratePerSecond: axis === 'rate' ? 1 : 6, cv: 1 };
  const variants = combinationsOf(lists).map((values) => ({
    values,
    policy: values.policy,
    balancer: 'sticky',
    arrivals,
    engines: 1,
  }));
  const plan = {
    lists,
    variants,
    seeds: [1, 2, 3],
    slos: objective === undefined ? [] : [parseSlo(objective, 0, () => '')],
    searched: axis,
    programs: programs ?? 300,
    isExact: false,
    margin: 0.02,
  } as unknown as Plan;
  const tried: (readonly [number, number])[] = [];
  const found = await search(plan, axis, programs !== undefined, (trial) => {
    if (tried.length >= stopAfter) return Promise.resolve([]);
    const loads = trial.variants.map(({ arrivals: own, engines }) =>
      own.type === 'open' ? own.ratePerSecond / engines : own.type === 'closed' ? own.concurrency / engines : 0,
    );
    tried.push([trial.variants[0]!.values[axis] ?? 0, trial.programs]);
    return Promise.resolve(
      trial.variants.flatMap(({ policy: name }, variant) =>
        trial.seeds.map((seed) => {
          const [load = 0, at] = [loads[variant], policy.indexOf(name as 'plas')];
          const mean = seconds?.(load) ?? (at === 1 && load >= pays ? 5 : 10);
          const times = { count: trial.programs, mean, p50: mean, p95: mean, p99: last, max: last };
          const isWaiting = load > most[at]!;
          const queue = isWaiting ? { ...times, p50: 9 } : { ...times, mean: 0, p50: 0, p95: 0, p99: 0, max: 0 };
          return {
            variant,
            seed,
            complete: true,
            failed: 0,
            by_workload: {},
            program_seconds: times,
            seconds_per_token: times,
            ttft_seconds: times,
            slowdown: { ...times, mean: mean / 5 },
            queue_seconds: queue,
            queue_grew: trial.programs < known ? null : axis !== 'concurrency' && isWaiting,
            programs: trial.programs,
            completed: trial.programs,
            calls: (calls * trial.programs) / 300,
            engine_waits: 0,
            programs_per_second: 0.5,
          } as unknown as RunReport;
        }),
      ),
    );
  });
  return { tried, values: found.plan.lists[axis], programs: found.plan.programs, runs: found.runs };
}

it('looks for rates from one that the first setting sustains to one that none does', async () => {
  const { values, runs } = await searched('rate', { most: [0.3, 0.8], pays: 0.3 });
  expect(values).toEqual([0.25, 0.3, 0.35, 0.49, 0.69, 0.82, 0.98]);
  expect(runs.map(({ variant, seed }) => `${variant} ${seed}`)).toEqual(
    [...Array(14).keys()].flatMap((variant) => [1, 2, 3].map((seed) => `${variant} ${seed}`)),
  );
});

it('runs as many short programs as a burst does not overload', async () => {
  const programsOf = async (calls: number) => (await searched('rate', { most: [0.3, 0.8], pays: 0.3, calls })).programs;
  expect([await programsOf(9000), await programsOf(300)]).toEqual([300, 2000]);
});

it('looks for lower rates while the lowest pays, and for no end of them', async () => {
  expect((await searched('rate', { most: [0.3, 0.8], pays: 0.15 })).values![0]).toBe(0.13);
  expect((await searched('rate', { most: [0.3, 0.8], pays: 0 })).values).toHaveLength(12);
});

it('takes as many programs as tell, unless their number is given', async () => {
  // The last to end takes 1,000 s: others arrive for three times that, and a quarter more, at twice the first rate of 0.063.
  expect((await searched('rate', { most: [0.1, 0.1], pays: 9, last: 1000 })).programs).toBe(500);
  expect((await searched('rate', { most: [0.3, 0.8], pays: 0.3, programs: 120 })).programs).toBe(120);
  // Looks that tell nothing are repeated with more.
  const { tried } = await searched('rate', { most: [0.3, 0.8], pays: 0.3, known: 500, last: 999 });
  expect(tried[2]).toEqual([1, 2000]);
  // More engines do not make up for too few programs.
  expect((await searched('engines', { most: [9, 9], pays: 99, programs: 50, known: 60 })).values).toEqual([6]);
});

it('looks for the fewest engines that are enough for each setting, and one less', async () => {
  const { values } = await searched('engines', { most: [0.4, 1.1], pays: 0.5 });
  expect(values).toEqual(expect.arrayContaining([5, 6, 14, 15]));
  expect(values!.length).toBeLessThanOrEqual(12);
  expect((await searched('engines', { most: [9, 9], pays: 99 })).values).toEqual([1]);
  expect((await searched('engines', { most: [1.1, 0.4], pays: 99 })).values).toEqual(
    expect.arrayContaining([5, 6, 14, 15]),
  );
});

it('looks for the fewest engines that meet an objective, up to one for each program', async () => {
  const under = (objective: string, least = 0) =>
    searched('engines', { most: [9, 9], pays: 99, seconds: (load) => 10 * Math.max(least, load), objective });
  // Of 6 programs a second.
  expect((await under('program_seconds.mean < 8')).values).toEqual(expect.arrayContaining([7, 8]));
  expect((await under('failed < 0')).values).toEqual([6, 12, 24, 48, 96, 192, 384, 768]);
  // More engines shorten no program that runs alone anyway.
  expect((await under('failed < 0', 1)).values!.at(-1)).toBeLessThan(30);
});

it('ends after programs one at a time where these miss an objective', async () => {
  for (const axis of ['engines', 'rate', 'concurrency'] as const) {
    const { tried, runs } = await searched(axis, {
      most: [9, 9],
      pays: 99,
      seconds: (load) => 10 + load,
      objective: 'program_seconds.mean < 9',
    });
    expect([tried.length, runs.length]).toEqual([1, 6]);
  }
});

it('looks for a number at a time that meets an objective, down to one', async () => {
  const { values } = await searched('concurrency', {
    most: [9, 9],
    pays: 99,
    seconds: (load) => 10 + load,
    objective: 'program_seconds.mean < 12',
  });
  expect(values![0]).toBe(1);
});

it('looks for the fewest engines on which a number at a time meets an objective, and for the rates that do, while fewer calls help', async () => {
  const meets = (limit: number, axis: Searched, atOnce?: number) =>
    searched(axis, {
      most: [99, 99],
      pays: 99,
      atOnce,
      seconds: (load) => 10 + load,
      objective: `program_seconds.mean < ${limit}`,
    });
  const { values, programs } = await meets(20, 'engines', 48);
  expect([values!.includes(4), values!.includes(5), programs]).toEqual([true, true, 1200]);
});

it('looks for numbers at a time from where calls begin to wait to two that pay, and between those where it begins to', async () => {
  const { values, programs } = await searched('concurrency', { most: [20, 20], pays: 30 });
  expect(values).toEqual([16, 23, 28, 33, 47]);
  expect(programs).toBe(1600);
  // A gain at none ends it where few programs are left for each one at a time.
  expect((await searched('concurrency', { most: [20, 20], pays: 999 })).values!.at(-1)).toBeLessThanOrEqual(100);
});

it('ends when stopped, with what it has', async () => {
  const { values, runs } = await searched('rate', { most: [0.3, 0.8], pays: 0.3 }, 6);
  // The value that was being tried is left out.
  expect(values!.length).toBeGreaterThan(0);
  expect(runs).toHaveLength(values!.length * 6);
});
