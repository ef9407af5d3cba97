import { describe, expect, it } from 'vitest';
import type { AgentProgram } from '../../../workloads/program.js';
import { play, programOf, type Played } from '../../support/sim-play.js';

const one = (id: string, arrivalMs = 0): AgentProgram =>
  programOf(id, arrivalMs, [{ promptTokens: 200, outputTokens: 50 }]);

function* endless(): Generator<AgentProgram, never> {
  for (let index = 0; ; index += 1) yield one(`p${index}`);
}

const arrivals = ({ programRecords }: Played): number[] =>
  programRecords.map((record) => record.arrivedMs).sort((a, b) => a - b);

describe('arrivals', () => {
  it('keep as many programs in a closed loop as there is room for', () => {
    const played = play(endless(), { maxPrograms: 21, arrivals: { type: 'closed', concurrency: 3 } });
    const { programRecords } = played;
    const times = arrivals(played);
    expect(times.slice(0, 3)).toEqual([0, 0, 0]);
    const ends = programRecords.map((record) => record.endedMs);
    for (const time of times.slice(3)) expect(ends).toContain(time);
    for (const time of times)
      expect(programRecords.filter(({ arrivedMs, endedMs }) => arrivedMs <= time && time < endedMs).length).toBe(3);
  });

  it('follow the times of a trace from its first program on, so many times faster', () => {
    const trace = [one('a', 5000), one('b', 6000), one('early', 5500), one('c', 9000)];
    const played = play(trace, { arrivals: { type: 'trace', speed: 2 } });
    // One that stands behind a later one comes when its turn is.
    expect(arrivals(played)).toEqual([0, 500, 500, 2000]);
  });

  it.each([
    ['a trace without times', [{ ...one('a'), arrivalMs: undefined }], { type: 'trace', speed: 1 }],
    ['a speed of 0', [], { type: 'trace', speed: 0 }],
    ['no concurrency', [], { type: 'closed', concurrency: 0 }],
  ] as const)('are refused: %s', (_what, programs, given) => {
    expect(() => play(programs as unknown as AgentProgram[], { arrivals: given })).toThrow(RangeError);
  });

  it('pull programs no sooner than the one before has arrived', () => {
    let pulled = 0;
    function* counted(): Generator<AgentProgram> {
      for (const program of endless()) {
        pulled += 1;
        yield program;
      }
    }
    const seen: number[] = [];
    const observer = { programEnded: () => void seen.push(pulled) };
    play(counted(), { maxPrograms: 5, arrivals: { type: 'open', ratePerSecond: 0.01, cv: 0 }, observer });
    expect(seen).toEqual([2, 3, 4, 5, 5]);
  });

  it('end when they are to stop, with what has ended by then', () => {
    let closed = false;
    function* watched(): Generator<AgentProgram> {
      try {
        yield* endless();
      } finally {
        closed = true;
      }
    }
    let asked = 0;
    const arrivals = { type: 'open', ratePerSecond: 5, cv: 1 } as const;
    const played = play(watched(), { arrivals, shouldStop: () => (asked += 1) > 2 });
    expect([played.complete, played.programRecords.length > 0, closed]).toEqual([false, true, true]);
  });
});
