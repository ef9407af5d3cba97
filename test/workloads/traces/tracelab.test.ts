import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { fileOf } from '../../support/folder.js';
import { callOf, itReadsRecorded, readText, readTrace, readWhole } from '../../support/traces.js';
import { jsonLines } from '../../support/trajectory.js';

const event = (event_type: string, seconds: number) => ({
  event_type,
  timestamp: new Date(1_780_000_000_000 + seconds * 1000).toISOString(),
});
const tool = (tool_name: string, tool_wall_latency_ms: number | null) => ({ tool_name, tool_wall_latency_ms });

function round(session_id: string, round_index: number, rest: object = {}) {
  return {
    provider: 'claude',
    model: 'opus',
    session_id,
    round_index,
    input_tokens_total: 1000,
    prefix_tokens: 0,
    output_tokens: 50,
    timing_events: [],
    tools: [],
    ...rest,
  };
}

const rounds = [
  round('one', 0, {
    prefix_tokens: 700,
    timing_events: [event('user_message', 1), event('text', 5), event('tool_call', 6)],
    tools: [tool('Bash', 2000), tool('Read', null)],
  }),
  round('one', 1, {
    input_tokens_total: 1100,
    prefix_tokens: 300,
    // The later result is the one that it waits for.
    timing_events: [event('tool_result', 7), event('tool_result', 8), event('text', 12), event('usage_report', 12.5)],
  }),
  round('one', 2, {
    input_tokens_total: 900,
    prefix_tokens: 640,
    timing_events: [event('user_message', 60), event('text', 70)],
  }),
  round('one', 3, { input_tokens_total: 920 }),
];

describe('a session', () => {
  it('is its rounds, with the time between them and what they share', async () => {
    const call = { promptTokens: 1000, outputTokens: 50 };
    expect(await readWhole(jsonLines(rounds), 'tracelab')).toEqual([
      {
        id: 'one',
        arrivalMs: 1_780_000_001_000,
        calls: [
          callOf({
            ...call,
            prefix: { name: 'tracelab claude opus', tokens: 700 },
            tools: [{ name: 'Bash', ms: 2000 }, { name: 'Read' }],
          }),
          callOf({ ...call, after: [0], gapMs: 2000, promptTokens: 1100, prefix: { call: 0, tokens: 1050 } }),
          // Shorter than before: what the provider found is all that is known.
          callOf({ ...call, after: [1], gapMs: 47_500, promptTokens: 900, prefix: { call: 1, tokens: 640 } }),
          // No times, so no gap; too short for the answer before it.
          callOf({ ...call, after: [2], promptTokens: 920, prefix: { call: 2, tokens: 900 } }),
        ],
      },
    ]);
  });

  it('ends where the next one begins, and is put into order', async () => {
    const two = [round('two', 1, { output_tokens: 7 }), round('two', 0, { output_tokens: 8 })];
    const { programs } = await readText(jsonLines([...rounds, ...two, round('three', 0)]));
    expect(programs.map(({ id, calls }) => [id, calls.length])).toEqual([
      ['one', 4],
      ['two', 2],
      ['three', 1],
    ]);
    expect(programs[1]?.calls.map(({ outputTokens }) => outputTokens)).toEqual([8, 7]);
  });

  it('that comes back behind another is told', async () => {
    const { programs, problems } = await readText(jsonLines([round('a', 0), round('b', 0), round('a', 1)]));
    expect(programs.map(({ id }) => id)).toEqual(['a', 'b']);
    expect(problems).toEqual(['3 duplicate']);
  });

  it.each([
    ['session_id', ''],
    ['round_index', -1],
    ['input_tokens_total', null],
    ['output_tokens', '7'],
    ['timing_events', [{ event_type: 'text', timestamp: 'noon' }]],
    ['tools', [tool('', 1)]],
    ['tools', [tool('Bash', -1)]],
  ])('goes on without a round that has %s of %j', async (field, value) => {
    const { programs, problems } = await readText(
      jsonLines([round('a', 0), { ...round('a', 1), [field]: value }, round('a', 2)]),
    );
    expect(problems).toEqual([expect.stringMatching(`^2 bad_field ${field}`)]);
    expect(programs.map(({ id, calls }) => [id, calls.length])).toEqual([['a', 2]]);
  });

  it('is left out where the file is cut in it', async () => {
    const many = Array.from({ length: 400 }, (_, index) =>
      round(`session-${Math.floor(index / 2)}`, index, { salt: Math.sin(index) }),
    );
    const packed = gzipSync(jsonLines(many));
    const { programs, problems } = await readTrace(fileOf('a.gz', packed.subarray(0, packed.length - 200)));
    expect(problems).toEqual([expect.stringMatching(/^\d+ unreadable$/)]);
    expect(programs.length).toBeGreaterThan(100);
    for (const { calls } of programs) expect(calls).toHaveLength(2);
  });
});

itReadsRecorded('tracelab', 'tracelab/round_trace.jsonl', (programs) => {
  expect(programs.map(({ calls }) => calls.length)).toEqual([10, 9]);
  // A web search of 19.3 s.
  expect(programs[0]?.calls[1]?.gapMs).toBe(19_291);
});
