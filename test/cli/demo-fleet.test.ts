import { expect, it } from 'vitest';
import { fleetOf } from '../../cli/demo-fleet.js';
import { KV_TOKENS } from '../../cli/embedded.js';
import { measureRun } from '../../lab/measure/run.js';
import { makeBalancer } from '../../loadbalancer/index.js';
import { configSchema } from '../../sidecar/config/index.js';
import { DEFAULT_PRESET, makeSteps, PRESETS } from '../../sim/index.js';
import type { PolicyName } from '../../src/index.js';
import { withShortGaps } from '../../workloads/index.js';

/** The first demo fleet on two embedded engines, in virtual time. */
function played(policy: PolicyName) {
  const { programs, maxPrograms, arrivals, gapMsMax } = fleetOf(1);
  const config = configSchema.parse({ policy: { name: policy } });
  const engine = { preset: { ...PRESETS[DEFAULT_PRESET], kvTokens: KV_TOKENS }, blockSize: 16 };
  const scheduler = () => makeSteps(policy, config, makeBalancer(config.balancer));
  const world = { programs: withShortGaps(programs(), gapMsMax), maxPrograms, arrivals, seed: 1, engines: 2, engine };
  const watch = { shouldStop: () => false, onProgress: () => undefined };
  return measureRun({ ...world, conditions: {}, announceEnds: true, scheduler }, watch);
}

it('a demo fleet ends within a minute and a half on two embedded engines, and shows what the gate is for', () => {
  const [without, own] = [played('pass-through'), played('plas')];
  expect(Object.keys(own.by_workload)).toContain('travel');
  expect(own.completed).toBe(fleetOf(1).maxPrograms);
  expect(own.makespan_seconds).toBeGreaterThan(45);
  expect(own.makespan_seconds).toBeLessThan(90);
  expect(without.program_seconds.mean! / own.program_seconds.mean!).toBeGreaterThan(1.5);
  expect(own.prefix_hit_rate! - without.prefix_hit_rate!).toBeGreaterThan(0.2);
});
