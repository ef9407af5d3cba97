import { configure } from '../../../processes/gateway.js';
import { makeBalancer } from '../../../loadbalancer/index.js';
import { PRESETS } from '../../../sim/index.js';
import { measureRun, type RunMeasures } from '../../../lab/measure/run.js';
import { makeSteps } from '../../../sim/policies/policies.js';
import { Dice } from '../../../workloads/dice.js';
import type { PolicyName } from '../../../src/index.js';
import type { Setting } from './setting.js';

/** What gaps are made longer by, at most, from one run to another: less than a network would. */
const STRETCH_MS_MAX = 100;

/**
 * The setting under a policy in virtual time. A cache that is too small makes much of little: which context was used last
 * when room was wanted. So the same is run again with gaps that are a little longer, each by chance.
 * @param variant 0: as it is; others differ in what gaps are longer by
 */
export function simulate(setting: Setting, policy: PolicyName, variant: number): RunMeasures {
  const { programs, ratePerSecond, seed, engines, preset, kvTokens, file } = setting;
  const config = configure({ policy, file, engines: [], speed: 1 });
  const dice = new Dice(variant);
  const stretched = programs.map(({ calls, ...program }) => ({
    ...program,
    calls: calls.map((call) => ({ ...call, gapMs: call.gapMs + (variant === 0 ? 0 : dice.share() * STRETCH_MS_MAX) })),
  }));
  return measureRun(
    {
      programs: stretched,
      arrivals: { type: 'open', ratePerSecond, cv: 1 },
      seed,
      engines,
      engine: { preset: { ...PRESETS[preset], kvTokens }, blockSize: 16, scheduling: 'fcfs' },
      scheduler: () => makeSteps(policy, config, makeBalancer(config.balancer)),
      alone: false,
    },
    { shouldStop: () => false, onProgress: () => undefined },
  );
}
