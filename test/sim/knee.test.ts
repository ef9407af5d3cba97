import { expect, it } from 'vitest';
import { makeBalancer } from '../../loadbalancer/index.js';
import { configSchema } from '../../sidecar/config/index.js';
import { makeSteps, PRESETS, runWorld } from '../../sim/index.js';
import { programs, WORKLOADS, type WorkloadName } from '../../workloads/index.js';

/** Mean milliseconds a token, and mean seconds, of programs on one engine. */
function run(workload: WorkloadName, ratePerSecond: number, batching: 'knee' | 'none') {
  const config = configSchema.parse({ admission: { batching } });
  const msPerToken: number[] = [];
  const seconds: number[] = [];
  runWorld({
    programs: programs(WORKLOADS[workload], 1),
    maxPrograms: 300,
    arrivals: { type: 'open', ratePerSecond, cv: 1 },
    seed: 1,
    engines: 1,
    engine: { preset: PRESETS['llama-3.1-8b-a100'], blockSize: 16 },
    scheduler: () => makeSteps('plas', config, makeBalancer(config.balancer)),
    observer: {
      programEnded({ arrivedMs, endedMs, outputTokens }) {
        seconds.push((endedMs - arrivedMs) / 1000);
        msPerToken.push((endedMs - arrivedMs) / outputTokens);
      },
    },
    alone: false,
  });
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  return { msPerToken: mean(msPerToken), seconds: mean(seconds) };
}

it('past the engine’s knee short programs run ahead of long ones, and the mean program is not slower for it', () => {
  const [knee, none] = [run('mixed', 1.2, 'knee'), run('mixed', 1.2, 'none')];
  expect(knee.msPerToken).toBeLessThan(none.msPerToken / 1.35);
  expect(knee.seconds).toBeLessThan(none.seconds);
});

it('programs that are alike are not held back', () => {
  const [knee, none] = [run('react', 4, 'knee'), run('react', 4, 'none')];
  expect(knee.seconds / none.seconds).toBeLessThan(1.02);
});
