import { describe, expect, it } from 'vitest';
import { Backlog, measureRun } from '../../../lab/measure/run.js';
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
    const world = {
      programs: shortThenLong(),
      arrivals,
      seed: 1,
      engines: 1,
      engine,
      scheduler: () => stepsOf('pass-through'),
    };
    const watch = { shouldStop: () => ended > 0, onProgress: (programs: number) => void (ended = programs) };
    const run = measureRun(world, watch);
    expect(run).toMatchObject({ complete: false, programs: 1, engine_busy: 1 });
  });
});

describe('a load is too high', () => {
  /** Programs, one a second, by their time alone and their lateness in seconds. */
  function grew(timesOf: (index: number) => readonly [alone: number, late: number], programs = 100): boolean | null {
    const backlog = new Backlog(1);
    for (let index = 0; index < programs; index += 1) {
      const [alone, late] = timesOf(index);
      const [arrivedMs, aloneMs] = [1000 * index, 1000 * alone];
      const counts = { calls: 1, callsCancelled: 0, promptTokens: 1, outputTokens: 1, longestQueueMs: 0 };
      backlog.programEnded({
        program: `p${index}`,
        workload: '',
        arrivedMs,
        aloneMs,
        endedMs: arrivedMs + aloneMs + 1000 * late,
        ...counts,
        outcome: 'completed',
      });
    }
    return backlog.grew();
  }

  it('where later programs are later', () => expect(grew((index) => [1, index])).toBe(true));
  it('not where it may be a burst: so few later ones are late as chance explains', () => {
    expect(grew((index) => [1, 0.15 * index])).toBe(false);
    expect(grew((index) => [1, 0.15 * index], 1000)).toBe(true);
    expect(grew((index) => [1, 0.04 * index], 10_000)).toBe(true);
    expect(grew((index) => [1, 0.015 * index], 10_000)).toBe(false);
    expect(grew((index) => [1, index % 150 === 0 ? 0.2 * index : 0], 1000)).toBe(false);
  });
  it('not where all are as late', () => expect(grew(() => [1, 3])).toBe(false));
  it('where a few long ones, held back by the policy, go on for a quarter of the time of arrivals', () => {
    expect(grew((index) => (index % 40 === 0 ? [20, 130 - index] : [1, 0]))).toBe(true);
    expect(grew((index) => (index % 40 === 0 ? [20, 90 - index] : [1, 0]))).toBe(false);
  });
  it('perhaps, where they are so long that a few more would end no sooner', () =>
    expect(grew((index) => (index % 40 === 0 ? [40, 130 - index] : [1, 0]))).toBe(null));
});
