import { describe, expect, it } from 'vitest';
import { measureRun } from '../../../lab/measure/run.js';
import type { AgentProgram } from '../../../workloads/program.js';
import { PRESET, programOf, stepsOf } from '../../support/sim-play.js';

/** A program that ends soon, and without end those that do not. */
function* shortThenLong(): Generator<AgentProgram, never> {
  for (let index = 0; ; index += 1)
    yield programOf(`p${index}`, 0, [{ promptTokens: 200, outputTokens: index === 0 ? 10 : 50_000 }]);
}

describe('a run that is stopped', () => {
  it('has its engines busy for no more than all of its time', () => {
    let ended = 0;
    const run = measureRun(
      {
        programs: shortThenLong(),
        arrivals: { type: 'open', ratePerSecond: 20, cv: 1 },
        seed: 1,
        engines: 1,
        engine: { preset: PRESET, blockSize: 16 },
        scheduler: () => stepsOf('pass-through'),
      },
      { shouldStop: () => ended > 0, onProgress: (programs) => void (ended = programs) },
    );
    expect(run).toMatchObject({ complete: false, programs: 1, engine_busy: 1 });
  });
});
