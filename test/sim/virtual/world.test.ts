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
});
