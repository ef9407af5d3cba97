import { describe, expect, it } from 'vitest';
import { agentProgram, play, programOf, recorded, stepsOf } from '../../support/sim-play.js';

describe('the virtual world', () => {
  it('takes a program alone exactly as long as it says that it takes alone', () => {
    const [record] = play([agentProgram('a', 0)]).programRecords;
    expect(record!.aloneMs).toBeCloseTo(record!.endedMs - record!.arrivedMs, 6);
  });

  it('passes a gap of years in no time, and hears of load at the same times after it', () => {
    const [shorter, longer] = [3_600_000, 1e12].map((gapMs) => {
      const { steps, log } = recorded(stepsOf('plas'));
      const size = { promptTokens: 4000, outputTokens: 400 };
      const { callRecords } = play([programOf('p', 0, [size, { ...size, gapMs }])], { scheduler: steps });
      const later = log.filter(({ event, now }) => event.type === 'engineReported' && now >= callRecords[1]!.arrivedMs);
      return { all: log.length, after: later.map(({ now }) => now % 2000) };
    });
    expect(longer!.all).toBe(shorter!.all);
    expect(longer!.after.length).toBeGreaterThan(2);
    expect(new Set(longer!.after)).toEqual(new Set([0]));
  });

  it('makes a call when all that it waits for has ended, and its gap is over', () => {
    const size = { promptTokens: 500, outputTokens: 20 };
    const { callRecords } = play([
      programOf('fan', 0, [
        size,
        { ...size, after: [0], thread: 'one' },
        { ...size, after: [0], thread: 'two', outputTokens: 200 },
        { ...size, after: [1, 2], gapMs: 250 },
        { ...size, after: [], gapMs: 1000, thread: 'late' },
      ]),
    ]);
    const call = (index: number) => callRecords.find((record) => record.call === index)!;
    expect([call(1).arrivedMs, call(2).arrivedMs]).toEqual([call(0).endedMs, call(0).endedMs]);
    expect(call(2).endedMs).toBeGreaterThan(call(1).endedMs);
    expect(call(3).arrivedMs).toBe(call(2).endedMs + 250);
    expect(call(4).arrivedMs).toBe(1000);
    expect(call(4).thread).toBe('late');
  });
});
