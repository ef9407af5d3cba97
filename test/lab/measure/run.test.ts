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
    const arrivals = { type: 'open', ratePerSecond: 20, cv: 1 } as const;
    const engine = { preset: PRESET, blockSize: 16 };
    const world = { programs: shortThenLong(), arrivals, seed: 1, engines: 1, engine, scheduler: () => stepsOf('pass-through') }; // prettier-ignore
    const watch = { shouldStop: () => ended > 0, onProgress: (programs: number) => void (ended = programs) };
    const run = measureRun(world, watch);
    expect(run).toMatchObject({ complete: false, programs: 1, engine_busy: 1 });
  });
});
