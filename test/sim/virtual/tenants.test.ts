import { expect, it } from 'vitest';
import { makeBalancer } from '../../../loadbalancer/index.js';
import { configSchema } from '../../../sidecar/config/index.js';
import { PRESETS, makeSteps, runWorld } from '../../../sim/index.js';
import type { Command, TenantsName } from '../../../src/index.js';
import { programs, WORKLOADS, type AgentProgram, type WorkloadName } from '../../../workloads/index.js';

/** Runs programs on an engine that is too small for them, with the shipped settings. */
function run(workload: WorkloadName, count: number, division: TenantsName, tenantOf?: (index: number) => string) {
  const config = configSchema.parse({ policy: { tenants: division, tenantWeights: {} } });
  const commands: Command[] = [];
  const tenants = new Map<string, string>();
  const source = function* (): Generator<AgentProgram> {
    let index = 0;
    for (const program of programs(WORKLOADS[workload], 1)) {
      const tenant = tenantOf?.(index++) ?? program.tenant;
      if (tenant !== undefined) tenants.set(program.id, tenant);
      yield tenant === undefined ? program : { ...program, tenant };
    }
  };
  const slowdowns = new Map<string, number[]>();
  runWorld({
    programs: source(),
    maxPrograms: count,
    arrivals: { type: 'open', ratePerSecond: 0.8, cv: 1 },
    seed: 1,
    engines: 1,
    engine: { preset: { ...PRESETS['qwen3-coder-30b-a3b'], kvTokens: 60_000 }, blockSize: 16, scheduling: 'fcfs' },
    scheduler: () => {
      const steps = makeSteps('plas', config, makeBalancer(config.balancer));
      return {
        ...steps,
        step(event, now) {
          const given = steps.step(event, now);
          commands.push(...given.filter(({ type }) => type !== 'wakeAt'));
          return given;
        },
      };
    },
    observer: {
      programEnded: ({ workload: kind, endedMs, arrivedMs, aloneMs }) =>
        slowdowns.set(kind, [...(slowdowns.get(kind) ?? []), (endedMs - arrivedMs) / aloneMs]),
    },
  });
  return { commands, slowdowns, tenants };
}

it('changes no command of a single tenant', () => {
  const { commands } = run('mixed', 30, 'none', () => 'only');
  expect(commands.length).toBeGreaterThan(500);
  expect(run('mixed', 30, 'weighted', () => 'only').commands).toEqual(commands);
});

it('has ten tenants, and spares the light ones the wait for the others', () => {
  const mean = (values: number[] = []) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [none, weighted] = [run('tenants', 60, 'none'), run('tenants', 60, 'weighted')];
  expect(new Set(none.tenants.values()).size).toBe(10);
  // Alone a program has the slowdown 1.
  const lost = ({ slowdowns }: typeof none) => mean(slowdowns.get('light')) - 1;
  expect(lost(weighted)).toBeLessThan(0.5 * lost(none));
});
