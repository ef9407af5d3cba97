import { describe, expect, it } from 'vitest';
import { measureRun, type RunMeasures } from '../../../lab/measure/run.js';
import { overSamePrograms } from '../../../lab/measure/comparison.js';
import { type Conditions, conditionsSchema } from '../../../sim/virtual/conditions.js';
import { agentProgram, PRESET, stepsOf } from '../../support/sim-play.js';

/** What waiting brings comes before the shorter limit below. */
const EARLY = { admission: { window: 2, reserveMs: 10_000, turnMs: 5_000 }, starvation: { waitMsMax: 10_000 } };

/** Clients that do not stream, so that their calls time out in the queue, and do not ask again. */
const IMPATIENT = conditionsSchema.parse({ clients: { retries: 0 } });

/** Agents that outgrow one small cache, under a limit of queue time. */
function run(queueMs: number, conditions: Conditions = IMPATIENT): RunMeasures {
  return measureRun(
    {
      programs: Array.from({ length: 24 }, (_, index) => agentProgram(`a${index}`, index * 100)),
      arrivals: { type: 'trace', speed: 1 },
      seed: 1,
      engines: 1,
      engine: { preset: { ...PRESET, kvTokens: 20_000 }, blockSize: 16 },
      scheduler: () => stepsOf('plas', { ...EARLY, timeouts: { queueMs } }),
      conditions,
      alone: false,
    },
    { shouldStop: () => false, onProgress: () => undefined },
  );
}

describe('two runs over the same programs', () => {
  const [patient, losing] = [run(600_000), run(15_000)];

  it('count what they lost', () => {
    expect([patient.lost, patient.failed, patient.completed]).toEqual([0, 0, 24]);
    expect(losing.lost).toBeGreaterThan(3);
    expect(losing.lost).toBe(losing.failed);
    expect(losing.refused).toEqual({ queue_timeout: losing.lost });
  });

  it('leave a program out of both that one of them lost', () => {
    const [one, two] = overSamePrograms(patient, losing);
    expect(two.program_seconds.mean).toBeCloseTo(losing.program_seconds.mean!, 9);
    const seconds = [...losing.completions!.keys()].map((program) => patient.completions!.get(program)!.seconds);
    expect(one.program_seconds.mean).toBeCloseTo(seconds.reduce((sum, each) => sum + each, 0) / seconds.length, 9);
    expect(one.program_seconds.mean).not.toBeCloseTo(patient.program_seconds.mean!, 3);
    expect(one.lost).toBe(0);
  });

  it('are as they are where neither lost any, or where nothing is known of their programs', () => {
    const pair = [patient, run(600_000)] as const;
    expect(overSamePrograms(...pair)[0]).toBe(pair[0]);
    expect(overSamePrograms({ ...patient, completions: undefined }, losing)[1]).toBe(losing);
  });

  it('do not count as lost what clients cancelled for good, and tell what they asked again', () => {
    const cancels = { share: 0.2, afterMs: 0, returnShare: 0.5 };
    const cancelled = run(600_000, conditionsSchema.parse({ clients: { retries: 0 }, cancels }));
    expect(cancelled.lost).toBe(0);
    expect(cancelled.failed).toBeGreaterThan(5);
    expect(cancelled.retries['cancelled']).toBeGreaterThan(5);
  });
});
