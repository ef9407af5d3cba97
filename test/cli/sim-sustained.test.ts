import { expect, it } from 'vitest';
import { combinationsOf } from '../../cli/sim/axes.js';
import { recommend } from '../../cli/sim/recommendation.js';
import { isForNothing, steadyOf } from '../../cli/sim/loads.js';
import { loadOf } from '../../cli/sim/overload.js';
import type { Plan } from '../../cli/sim/plan.js';
import type { RunReport } from '../../cli/sim/worker.js';

const SEEDS = [1, 2, 3];

it('tells on how many engines each setting sustains the load', () => {
  const lists = { engines: [1, 2, 4], policy: ['pass-through', 'plas'], balancer: ['sticky'] } as const;
  const variants = combinationsOf(lists).map((values) => ({ values, policy: values.policy, balancer: 'sticky', arrivals: { type: 'open', ratePerSecond: 1 } })); // prettier-ignore
  const plan = { lists, variants, seeds: SEEDS, programs: 300, isExact: false, margin: 0.02 } as unknown as Plan;
  const told = (grew: (at: number, seed: number) => boolean) => {
    const times = { count: 300, mean: 10, p50: 10, p95: 10, p99: 10 };
    const runs = variants.flatMap((_, variant) => SEEDS.map((seed) => ({ variant, seed, complete: true, failed: 0, by_workload: {}, program_seconds: times, seconds_per_token: times, ttft_seconds: times, slowdown: times, queue_seconds: times, queue_grew: grew(variant, seed), programs: 3000, calls: 9000, engine_waits: 9000 }) as unknown as RunReport)); // prettier-ignore
    return recommend(plan, runs)!.sentence.split('\n').slice(0, 2);
  };
  expect(told((at) => at < 4 && at !== 3)[0]).toBe(
    'Sustained in most seeds, with 300 programs: pass-through on 4 engines or more; plas on 2 engines or more.',
  );
  expect(told((at, seed) => at < 4 && seed > 2)[0]).toBe(
    'Sustained in most seeds, with 300 programs: on each of these (on 1 in 2 of 3).',
  );
  expect(told((at, seed) => at < 4 && seed > 1)[0]).toBe(
    'Sustained in most seeds, with 300 programs: on 4 engines or more.',
  );
  expect(told(() => false)[0]).toBe('Sustained in most seeds, with 300 programs: on each of these.');
  expect(told(() => true)).toEqual([
    'Sustained in most seeds, with 300 programs: on none of these.',
    '--engines auto looks for the fewest that are enough.',
  ]);
});

it('names the search for the fewest engines that are enough, unless these runs show them', () => {
  const times = { count: 300, mean: 10, p50: 10, p95: 10, p99: 10 };
  const told = (engines: readonly number[], enough: number, seeds = 8, searched?: 'engines') => {
    const lists = { engines, policy: ['plas'], balancer: ['sticky'] } as const;
    const variants = combinationsOf(lists).map((values) => ({ values, policy: 'plas', balancer: 'sticky', arrivals: { type: 'open', ratePerSecond: 1 } })); // prettier-ignore
    const plan = { lists, variants, searched, seeds: Array.from({ length: seeds }, (_, at) => at), programs: 300, isExact: false, margin: 0.02 } as unknown as Plan; // prettier-ignore
    const runs = engines.flatMap((count, variant) => plan.seeds.map((seed) => ({ variant, seed, complete: true, failed: 0, by_workload: {}, program_seconds: times, seconds_per_token: times, ttft_seconds: times, slowdown: times, queue_seconds: times, queue_grew: count < enough, programs: 3000, calls: 9000, engine_waits: 9000 }) as unknown as RunReport)); // prettier-ignore
    return recommend(plan, runs)!.sentence.split('\n').at(-1);
  };
  for (const [engines, enough, seeds] of [
    [[1, 2, 4], 3],
    [[2, 4], 1],
    [[1, 2], 2, 2],
    [[1, 2], 4],
  ] as const)
    // prettier-ignore
    expect(told(engines, enough, seeds)).toBe('--engines auto looks for the fewest that are enough.');
  expect(told([2, 4], 4, 8, 'engines')).toMatch(/^Perhaps fewer are enough: the search ended/);
  expect(told([3, 4], 4, 8, 'engines')).toBe('To learn whether plas pays, compare --policy pass-through,plas.');
  expect(told([1, 2], 2)).toBe('To learn whether plas pays, compare --policy pass-through,plas.');
});

it('asks for more programs where too few came to tell on how many engines a load is sustained', () => {
  const lists = { engines: [1, 2], policy: ['plas'], balancer: ['sticky'] } as const;
  const variants = combinationsOf(lists).map((values) => ({ values, policy: 'plas', balancer: 'sticky', arrivals: { type: 'open', ratePerSecond: 1 } })); // prettier-ignore
  const plan = { lists, variants, seeds: [1], programs: 30, isExact: false, margin: 0.02 } as unknown as Plan;
  const times = { count: 30, mean: 20, p50: 20, p95: 20, p99: 20 };
  const runs = [0, 1].map((variant) => ({ variant, seed: 1, complete: true, failed: 0, by_workload: {}, program_seconds: times, seconds_per_token: times, ttft_seconds: times, slowdown: { ...times, mean: 1 }, queue_seconds: times, queue_grew: null, programs: 30, calls: 90, engine_waits: 90 }) as unknown as RunReport); // prettier-ignore
  // Arrivals must last for five times the 20 s that a program takes alone, and a quarter more.
  expect(recommend(plan, runs)!.sentence).toMatch(/^Sustained, with 30 programs: unknown.*\nToo few programs to tell how many engines sustain this rate: run again with --programs 200\.$/); // prettier-ignore
  // The mean is short enough, but not the last to end: many times as many, or each advice leads to the next.
  const last = runs.map((run) => ({ ...run, program_seconds: { ...run.program_seconds, mean: 2 } }));
  expect(recommend(plan, last)!.sentence).toContain('run again with --programs 200.');
});

it('asks for a longer run of a number at a time where a difference is small, and not settled', () => {
  const lists = { concurrency: [8], policy: ['pass-through', 'plas'], balancer: ['sticky'] } as const;
  const variants = combinationsOf(lists).map((values) => ({ values, policy: values.policy, balancer: 'sticky', arrivals: { type: 'closed', concurrency: 8 } })); // prettier-ignore
  const told = (mean: number, programs = 100) => {
    const plan = { lists, variants, seeds: SEEDS, programs, isExact: false, margin: 0.02 } as unknown as Plan;
    const timesOf = (variant: number) => ({ count: 100, mean: variant === 0 ? 10 : mean, p50: 10, p95: 10, p99: 10 });
    const runs = variants.flatMap((_, variant) => SEEDS.map((seed) => ({ variant, seed, complete: true, failed: 0, program_seconds: timesOf(variant), seconds_per_token: timesOf(0), ttft_seconds: timesOf(0), slowdown: timesOf(0), queue_seconds: timesOf(0), programs }) as unknown as RunReport)); // prettier-ignore
    return steadyOf(plan, runs);
  };
  expect(told(9)).toMatch(/cannot tell small differences: run again with --programs 200\.$/);
  expect([told(10), told(5), told(9, 200), told(9, 8)]).toEqual([undefined, undefined, undefined, undefined]);
});

it('says after a search over numbers at a time without a gain what would take it further', () => {
  const lists = { concurrency: [8, 12], policy: ['pass-through', 'plas'], balancer: ['sticky'] } as const;
  const variants = combinationsOf(lists).map((values) => ({ values, ...values, arrivals: { type: 'closed', concurrency: values.concurrency } })); // prettier-ignore
  const plan = { lists, variants, seeds: SEEDS, searched: 'concurrency', programs: 100, isExact: false, margin: 0.02 } as unknown as Plan; // prettier-ignore
  const times = { count: 100, mean: 10, p50: 10, p95: 10, p99: 10 };
  const runs = variants.flatMap((_, variant) => SEEDS.map((seed) => ({ variant, seed, complete: true, failed: 0, by_workload: {}, program_seconds: times, seconds_per_token: times, ttft_seconds: times, slowdown: times, queue_seconds: times, programs: 100 }) as unknown as RunReport)); // prettier-ignore
  expect(recommend(plan, runs)!.sentence).toMatch(/\nUp to the most of these, nothing is better; more at a time need more programs: run again with --programs 384\.\n/); // prettier-ignore
});

it('blames waiting for later first tokens only where a policy is compared with none', () => {
  const told = (policy: readonly ('pass-through' | 'plas')[], balancer: readonly ('sticky' | 'round-robin')[]) => {
    const lists = { concurrency: [8], policy, balancer };
    const variants = combinationsOf(lists).map((values) => ({ values, ...values, arrivals: { type: 'closed', concurrency: 8 } })); // prettier-ignore
    const plan = { lists, variants, seeds: SEEDS, programs: 100, isExact: false, margin: 0.02 } as unknown as Plan;
    const times = { count: 100, mean: 10, p50: 10, p95: 10, p99: 10 };
    const runs = variants.flatMap((_, variant) => SEEDS.map((seed) => ({ variant, seed, complete: true, failed: 0, preemptions: 0, program_seconds: times, seconds_per_token: times, ttft_seconds: { ...times, p99: 10 + 10 * variant }, slowdown: times, queue_seconds: times, programs: 100 }) as unknown as RunReport)); // prettier-ignore
    return isForNothing(plan, runs);
  };
  expect(told(['pass-through', 'plas'], ['sticky'])).toBe(true);
  expect([told(['plas'], ['sticky', 'round-robin']), told(['pass-through', 'plas'], ['sticky', 'round-robin'])]).toEqual([false, false]); // prettier-ignore
});

it('calls a load unknown that engines may still fill under, unless programs are too slow for that', () => {
  const lists = { rate: [1], policy: ['plas'], balancer: ['sticky'] } as const;
  const variants = combinationsOf(lists).map((values) => ({ values, policy: 'plas', balancer: 'sticky', arrivals: { type: 'open', ratePerSecond: 1 } })); // prettier-ignore
  const stateOf = (mean: number, slowdown: number) => {
    const times = { count: 800, mean, p50: mean, p95: mean, p99: mean };
    const run = { variant: 0, seed: 1, complete: true, program_seconds: times, slowdown: { ...times, mean: slowdown }, queue_seconds: times, queue_grew: true, programs: 800 }; // prettier-ignore
    return loadOf({ variants } as unknown as Plan, [run as unknown as RunReport], 0).state;
  };
  // Programs come for 800 s.
  expect([stateOf(99, 2.5), stateOf(101, 2.5), stateOf(101, 4)]).toEqual(['overloaded', 'unknown', 'overloaded']);
});
