import { configure } from '../../../processes/gateway.js';
import { makeBalancer } from '../../../loadbalancer/index.js';
import { PRESETS } from '../../../sim/index.js';
import { measureRun, type RunMeasures } from '../../../lab/measure/run.js';
import { makeSteps } from '../../../sim/policies/policies.js';
import { Dice } from '../../../workloads/dice.js';
import type { PolicyName } from '../../../src/index.js';
import type { Setting } from './setting.js';

/** Most that gaps are stretched from one run to another: less than a network would. */
const STRETCH_MS_MAX = 100;

/**
 * Simulates the setting under a policy. With a cache that is too small, small differences matter: which context was
 * used last when room was needed. So the simulation is repeated with gaps that are randomly a little longer.
 * @param variant 0: unchanged gaps; others stretch them differently
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
      engine: { preset: { ...PRESETS[preset], kvTokens }, blockSize: 16 },
      scheduler: () => makeSteps(policy, config, makeBalancer(config.balancer)),
      alone: false,
    },
    { shouldStop: () => false, onProgress: () => undefined },
  );
}
