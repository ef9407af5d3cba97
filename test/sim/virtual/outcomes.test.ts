import { describe, expect, it } from 'vitest';
import { conditionsSchema } from '../../../sim/virtual/conditions.js';
import { PRESET, agentProgram, play, programOf, stepsOf } from '../../support/sim-play.js';

const small = { promptTokens: 100, outputTokens: 10 };
/** Clients that do not stream, so that their calls time out in the queue, and do not ask again. */
const IMPATIENT = conditionsSchema.parse({ clients: { retries: 0 } });

describe('what cannot be served', () => {
  it('refuses a prompt larger than the context of an engine, and never makes what waits for it', () => {
    const played = play([
      programOf('large', 0, [
        small,
        { promptTokens: 890_000, outputTokens: 10 },
        { ...small, after: [1] },
        { ...small, after: [0, 2] },
        { ...small, after: [0], thread: 'beside', outputTokens: 500 },
      ]),
      agentProgram('well', 0),
    ]);
    const large = played.programRecords.find(({ program }) => program === 'large')!;
    expect(large).toMatchObject({ outcome: 'too_long', calls: 3, callsCancelled: 2, outputTokens: 510, aloneMs: NaN });
    expect(large.endedMs).toBe(played.callRecords.find(({ thread }) => thread === 'beside')!.endedMs);
    expect(played.callOutcomes).toEqual({ completed: 12, too_long: 1 });
    expect(played.programOutcomes).toEqual({ completed: 1, too_long: 1 });
  });

  it('never makes hundreds of thousands of calls that wait for one that is refused', () => {
    const wide = Array.from({ length: 300_000 }, () => ({ ...small, after: [2] }));
    const first = [{ promptTokens: 0, outputTokens: 1 }, small, { ...small, after: [1] }];
    const played = play([programOf('wide', 0, [...first, ...wide])]);
    expect(played.programRecords).toMatchObject([{ callsCancelled: 300_002 }]);
  });

  it('refuses an empty prompt, and an empty program', () => {
    const played = play([
      programOf('no-prompt', 0, [{ promptTokens: 0, outputTokens: 10 }, small]),
      { id: 'no-calls', arrivalMs: 5, calls: [] },
      programOf('well', 10, [small]),
    ]);
    expect(played.programRecords.map(({ program, outcome, calls }) => `${program} ${outcome} ${calls}`)).toEqual([
      'no-prompt empty_prompt 1',
      'no-calls empty 0',
      'well completed 1',
    ]);
  });

  it('lets an engine say one token at least, and as many as its context holds at most', () => {
    const promptTokens = PRESET.maxModelLen - 3;
    const { callRecords } = play([
      programOf('short', 0, [{ ...small, outputTokens: 0 }]),
      programOf('long', 0, [{ promptTokens, outputTokens: 10 }]),
    ]);
    expect(callRecords.map((record) => record.outputTokens).sort()).toEqual([1, 3]);
  });

  it('ends a program whose call the scheduler refuses', () => {
    const settings = {
      admission: { window: 1, reserveMs: 1000, turnMs: 1000 },
      starvation: { waitMsMax: 1000 },
      limits: { queuedMax: 1 },
      timeouts: { queueMs: 2000 },
    };
    const calls = [{ promptTokens: 100, outputTokens: 1000 }, small];
    const programs = ['runs', 'waits', 'comes too late'].map((id, index) => programOf(id, index, calls));
    const played = play(programs, { engines: 1, scheduler: stepsOf('plas', settings), conditions: IMPATIENT });
    expect(played.programRecords).toMatchObject([
      { program: 'comes too late', outcome: 'queue_full', endedMs: 2, callsCancelled: 1 },
      { program: 'waits', outcome: 'queue_timeout', endedMs: 2001, callsCancelled: 1 },
      { program: 'runs', outcome: 'completed', callsCancelled: 0 },
    ]);
    const refused = played.callRecords.find(({ outcome }) => outcome === 'queue_timeout')!;
    expect(refused).toMatchObject({ dispatchedMs: NaN, firstTokenMs: NaN, endedMs: 2001, outputTokens: 0 });
    expect(played.callRecords).toHaveLength(4);
  });

  it('says which program waits for a call that does not stand before it', () => {
    expect(() => play([programOf('knot', 0, [{ ...small, after: [0] }])])).toThrow(RangeError);
  });
});
