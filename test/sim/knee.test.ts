import { expect, it } from 'vitest';
import { makeBalancer } from '../../loadbalancer/index.js';
import { configSchema } from '../../sidecar/config/index.js';
import { makeSteps, PRESETS, runWorld, type ProgramRecord } from '../../sim/index.js';
import { programs, WORKLOADS, type WorkloadName } from '../../workloads/index.js';

const PROGRAMS = 300;

/** Mean milliseconds a token, and mean seconds, of programs on one engine. */
function run(workload: WorkloadName, ratePerSecond: number, batching: 'knee' | 'none') {
  const config = configSchema.parse({ admission: { batching } });
  let [msPerToken, seconds] = [0, 0];
  const programEnded = ({ arrivedMs, endedMs, outputTokens }: ProgramRecord) => {
    seconds += (endedMs - arrivedMs) / 1000 / PROGRAMS;
    msPerToken += (endedMs - arrivedMs) / outputTokens / PROGRAMS;
  };
  runWorld({
    ...{ programs: programs(WORKLOADS[workload], 1), maxPrograms: PROGRAMS, seed: 1, engines: 1, alone: false },
    arrivals: { type: 'open', ratePerSecond, cv: 1 },
    engine: { preset: PRESETS['llama-3.1-8b-a100'], blockSize: 16 },
    scheduler: () => makeSteps('plas', config, makeBalancer(config.balancer)),
    observer: { programEnded },
  });
  return { msPerToken, seconds };
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
