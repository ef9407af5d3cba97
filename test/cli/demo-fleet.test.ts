import { expect, it } from 'vitest';
import { fleetOf } from '../../cli/demo-fleet.js';
import { WINDOW } from '../../cli/embedded.js';
import { measureRun } from '../../lab/measure/run.js';
import { makeBalancer } from '../../loadbalancer/index.js';
import { configSchema } from '../../sidecar/config/index.js';
import { DEFAULT_PRESET, makeSteps, PRESETS } from '../../sim/index.js';
import { withShortGaps } from '../../workloads/index.js';

it('a demo fleet ends within two minutes on two embedded engines, and waits for them', () => {
  const seed = 1;
  const { programs, maxPrograms, arrivals, gapMsMax } = fleetOf(seed);
  const { admission, balancer, ...others } = configSchema.parse({});
  const config = { ...others, balancer, admission: { ...admission, window: WINDOW } };
  const { makespan_seconds, queue_seconds, completed } = measureRun(
    {
      programs: withShortGaps(programs(), gapMsMax),
      maxPrograms,
      arrivals,
      seed,
      engines: 2,
      engine: { preset: PRESETS[DEFAULT_PRESET], blockSize: 16, scheduling: 'fcfs' },
      conditions: {},
      announceEnds: true,
      scheduler: () => makeSteps(config.policy.name, config, makeBalancer(balancer)),
    },
    { shouldStop: () => false, onProgress: () => undefined },
  );
  expect(completed).toBe(maxPrograms);
  expect(makespan_seconds).toBeGreaterThan(45);
  expect(makespan_seconds).toBeLessThan(105);
  expect(queue_seconds.p50).toBeGreaterThan(0.5);
});
