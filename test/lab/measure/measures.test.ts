import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Gathering } from '../../../lab/measure/measures.js';
import type { CallRecord, ProgramRecord } from '../../../sim/virtual/options.js';

const BOTH = { program: 'p', arrivedMs: 0, promptTokens: 100, outputTokens: 10, outcome: 'completed' };

const program = (record: Partial<ProgramRecord>): ProgramRecord => ({
  ...{ ...BOTH, workload: '', endedMs: 1000, calls: 1, callsCancelled: 0, longestQueueMs: 0, aloneMs: 500 },
  ...record,
});

const call = (record: Partial<CallRecord>): CallRecord => ({
  ...{ ...BOTH, workload: '', call: 0, thread: '', engine: 'e0', cachedTokens: 0 },
  ...{ dispatchedMs: 100, firstTokenMs: 400, endedMs: 1300 },
  ...record,
});

function measuresOf(programs: readonly Partial<ProgramRecord>[], calls: readonly Partial<CallRecord>[] = []) {
  const gathering = new Gathering(1);
  for (const each of calls) gathering.callEnded(call(each));
  for (const each of programs) gathering.programEnded(program(each));
  return gathering.measures();
}

describe('the measures of calls', () => {
  it('are in seconds from their arrival', () => {
    const measures = measuresOf(
      [],
      [{}, { arrivedMs: 50, dispatchedMs: 350, firstTokenMs: 950, endedMs: 950, outputTokens: 1 }],
    );
    expect(measures.queue_seconds).toMatchObject({ mean: 0.2, max: 0.3 });
    expect(measures.ttft_seconds).toMatchObject({ mean: 0.65, max: 0.9 });
    // A single token is between no two.
    expect(measures.inter_token_seconds).toMatchObject({ mean: 0.1, max: 0.1 });
    expect(measures).toMatchObject({ calls: 2, prompt_tokens: 200, output_tokens: 11 });
  });

  it('count what was refused by its code, and take no times of it', () => {
    const refused = { outcome: 'queue_full', dispatchedMs: NaN, firstTokenMs: NaN };
    const measures = measuresOf([], [refused, { ...refused, outcome: 'broken' }, refused]);
    expect(measures.refused).toEqual({ broken: 1, queue_full: 2 });
    expect(measures).toMatchObject({ calls: 3, output_tokens: 0, queue_seconds: { max: null } });
  });

  it('do without a time that nobody could see', () => {
    const measures = measuresOf([], [{ dispatchedMs: NaN }, { firstTokenMs: NaN }]);
    expect(measures.queue_seconds.mean).toBe(0.1);
    expect(measures.ttft_seconds.mean).toBe(0.4);
  });
});

describe('the measures of programs', () => {
  it('are their time, over their output tokens and over what it takes alone', () => {
    const measures = measuresOf([{}, { arrivedMs: 1000, endedMs: 4000, outputTokens: 60, aloneMs: 1000 }]);
    expect(measures.program_seconds.mean).toBe(2);
    expect(measures.seconds_per_token).toMatchObject({ p50: 0.05, max: 0.1 });
    expect(measures.slowdown).toMatchObject({ mean: 2.5, max: 3 });
    expect(measures.jain_index).toBeCloseTo(25 / 26, 12);
    expect(measures.makespan_seconds).toBe(4);
    expect(measures.programs_per_second).toBe(0.5);
  });

  it('leave out those that failed, but for their number and the time that they took', () => {
    const measures = measuresOf([
      {},
      { outcome: 'queue_timeout', endedMs: 8000, callsCancelled: 4, longestQueueMs: 7000 },
    ]);
    expect(measures).toMatchObject({ programs: 2, completed: 1, failed: 1, calls_cancelled: 4, makespan_seconds: 8 });
    expect(measures.program_seconds.max).toBe(1);
    expect(measures.worst_waiting).toEqual({ program: 'p', seconds: 7 });
  });

  it('do without slowdown where nobody knows the time alone, and without time per token where there is none', () => {
    const measures = measuresOf([{ aloneMs: NaN }, { aloneMs: 0, outputTokens: 0 }]);
    expect(measures.slowdown.mean).toBeNull();
    expect(measures.jain_index).toBeNull();
    expect(measures.seconds_per_token.mean).toBe(0.1);
    expect(measures.by_size.map(({ programs }) => programs)).toEqual([1, 0, 1, 0]);
  });

  it('name the program with the longest wait, the first of equals, and none that did not wait', () => {
    const waits = [{ program: 'a' }, { program: 'b', longestQueueMs: 10 }, { program: 'c', longestQueueMs: 10 }];
    expect(measuresOf(waits).worst_waiting).toEqual({ program: 'b', seconds: 0.01 });
    expect(measuresOf([{ program: 'a' }]).worst_waiting).toBeNull();
  });

  it('of nothing are null', () => {
    const nothing = { makespan_seconds: null, calls_per_second: null, worst_waiting: null };
    const by_size = Array(4).fill({ tokens_min: null }) as object[];
    expect(measuresOf([])).toMatchObject({ programs: 0, ...nothing, by_size });
  });
});

describe('quarters by size', () => {
  it('hold a quarter of the programs each, by their tokens', () => {
    const programs = [5, 1, 8, 3, 2, 7, 4, 6].map((size) => ({ outputTokens: 100 * size, aloneMs: 1000 / size }));
    const { by_size } = measuresOf(programs);
    const bounds = [200, 400, 600, 800].map((least) => ({ tokens_min: least, tokens_max: least + 100, programs: 2 }));
    expect(by_size).toMatchObject(bounds);
    expect(by_size.map(({ slowdown }) => Math.round(100 * slowdown.mean!))).toEqual([150, 350, 550, 750]);
  });

  it('lose no program, and are the same whatever order programs end in', () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(sizes, (given) => {
        const quarters = (order: readonly number[]) =>
          measuresOf(order.map((outputTokens) => ({ outputTokens }))).by_size;
        const found = quarters(given);
        expect(found.reduce((sum, { programs }) => sum + programs, 0)).toBe(given.length);
        expect(quarters(given.toReversed()).map(({ programs }) => programs)).toEqual(
          found.map(({ programs }) => programs),
        );
      }),
    );
  });
});

describe('kinds of programs', () => {
  it('are told apart by name, where programs have one', () => {
    const [react, chat] = [{ workload: 'react' }, { workload: 'chat' }];
    const ends = [
      { ...react, endedMs: 3000 },
      chat,
      { ...react, outputTokens: 50 },
      { ...chat, outcome: 'broken' },
      {},
    ];
    const { by_workload } = measuresOf(ends);
    expect(Object.keys(by_workload)).toEqual(['chat', 'react']);
    expect(by_workload['react']).toMatchObject({ programs: 2, program_seconds: { mean: 2 }, slowdown: { max: 6 } });
    expect(by_workload['chat']).toMatchObject({ programs: 1, seconds_per_token: { mean: 0.1 } });
  });

  it('are counted together where there are very many, and none is lost', () => {
    const { by_workload } = measuresOf(Array.from({ length: 100 }, (_, index) => ({ workload: `w${index}` })));
    expect(Object.keys(by_workload)).toHaveLength(33);
    expect(Object.values(by_workload).reduce((sum, { programs }) => sum + programs, 0)).toBe(100);
  });
});
