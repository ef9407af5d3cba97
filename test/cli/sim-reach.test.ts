import { expect, it } from 'vitest';
import { reachOf } from '../../cli/sim/reach.js';
import type { Plan } from '../../cli/sim/plan.js';
import type { RunReport } from '../../cli/sim/worker.js';

it('looks for another rate with as many programs as tell whether it is sustained', async () => {
  const lists = { rate: [5], policy: ['pass-through'], balancer: ['sticky'] } as const;
  const variants = [{ values: { rate: 5 }, policy: 'pass-through', arrivals: { type: 'open', ratePerSecond: 5 } }];
  const plan = { lists, variants, seeds: [0], programs: 3, isExact: false, margin: 0.02 } as unknown as Plan;
  const times = { count: 3, mean: 10, p50: 10, p95: 10, p99: 10 };
  const none = { ...times, mean: 0, p50: 0, p95: 0, p99: 0, max: 0 };
  const run = { variant: 0, complete: true, by_workload: {}, program_seconds: times, slowdown: { ...times, mean: 1 }, queue_seconds: none, engine_waits: 0, calls: 9, completed: 3, programs: 3, queue_grew: null } as unknown as RunReport; // prettier-ignore
  const looks: number[] = [];
  const tried = ({ programs, seeds, variants: [first] }: Plan) => {
    const { ratePerSecond: rate } = first!.arrivals as { readonly ratePerSecond: number };
    looks.push(rate);
    return Promise.resolve(seeds.map((seed) => ({ ...run, seed, programs, queue_grew: programs < 80 ? null : rate > 0.4, slowdown: { ...times, mean: 9 } }) as RunReport)); // prettier-ignore
  };
  expect(await reachOf(plan, [run], tried)).toMatchObject({ load: 0.33, programs: 90 });
  expect(looks).toEqual([5, 2.5, 1.3, 0.65, 0.33]);
});

it('looks above a load that is known to be sustained for one that is not', async () => {
  const lists = { rate: [1], policy: ['pass-through'], balancer: ['sticky'] } as const;
  const variants = [{ values: { rate: 1 }, policy: 'pass-through', arrivals: { type: 'open', ratePerSecond: 1 } }];
  const plan = { lists, variants, seeds: [0], programs: 300, isExact: false, margin: 0.02 } as unknown as Plan;
  const times = { count: 300, mean: 10, p50: 10, p95: 10, p99: 10 };
  const none = { ...times, mean: 0, p50: 0, p95: 0, p99: 0, max: 0 };
  const run = { variant: 0, seed: 0, complete: true, by_workload: {}, program_seconds: times, slowdown: { ...times, mean: 1 }, queue_seconds: none, engine_waits: 0, engine_busy: 0.1, calls: 900, completed: 300, programs: 300, queue_grew: false } as unknown as RunReport; // prettier-ignore
  const looks: number[] = [];
  const tried = ({ programs, seeds, variants: [first] }: Plan) => {
    const { ratePerSecond: rate } = first!.arrivals as { readonly ratePerSecond: number };
    looks.push(rate);
    return Promise.resolve(seeds.map((seed) => ({ ...run, seed, programs, queue_grew: rate > 1, slowdown: { ...times, mean: 9 } }) as RunReport)); // prettier-ignore
  };
  // A tenth of the engine is busy: the search begins at ten times the load, and ends at it.
  expect(await reachOf(plan, [run], tried)).toMatchObject({ load: 1 });
  expect(looks).toEqual([10, 5, 2.5, 1.3]);
});
