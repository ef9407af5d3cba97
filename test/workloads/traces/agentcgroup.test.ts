import { describe, expect, it } from 'vitest';
import { describeRecorded, readText, readTrace, spoilt } from '../../support/traces.js';
import { jsonLines } from '../../support/trajectory.js';

const call = (t: number, latency: number, prompt: number, tools: [string, number][] = []) => ({
  t,
  latency,
  prompt,
  output: 30,
  tools,
});
const good = {
  session: 'good',
  calls: [
    call(0, 2, 100, [['Bash', 1.5]]),
    call(3.5, 1, 130, [
      ['Read', 0.2],
      ['Read', 0.2004],
    ]),
    call(4.7, 1, 150),
    call(5, 0.5, 90),
  ],
};

describe('a session', () => {
  it('has the gaps between its calls, and their tools', async () => {
    const { format, programs, problems } = await readText(jsonLines([good]));
    expect({ format, problems }).toEqual({ format: 'agentcgroup', problems: [] });
    expect(programs).toEqual([
      {
        id: 'good',
        calls: [
          { after: [], gapMs: 0, thread: '', promptTokens: 100, outputTokens: 30, tools: [{ name: 'Bash', ms: 1500 }] },
          {
            after: [0],
            gapMs: 1500,
            thread: '',
            promptTokens: 130,
            outputTokens: 30,
            prefix: { call: 0, tokens: 130 },
            tools: [
              { name: 'Read', ms: 200 },
              { name: 'Read', ms: 200 },
            ],
          },
          // Not long enough for the answer before it.
          { after: [1], gapMs: 200, thread: '', promptTokens: 150, outputTokens: 30, prefix: { call: 1, tokens: 130 } },
          // Sent before the one before it had ended: no gap is below zero.
          { after: [2], gapMs: 0, thread: '', promptTokens: 90, outputTokens: 30, prefix: { call: 2, tokens: 90 } },
        ],
      },
    ]);
  });

  it('is put into order when its calls are not', async () => {
    const { programs } = await readText(jsonLines([{ ...good, calls: good.calls.toReversed() }]));
    expect(programs).toEqual((await readText(jsonLines([good]))).programs);
  });

  it.each([
    ['session', '', 'bad_field session'],
    ['calls', [], 'empty'],
    ['calls.1.t', -1, 'bad_field calls.1.t'],
    ['calls.1.latency', null, 'bad_field calls.1.latency'],
    ['calls.2.prompt', 0.5, 'bad_field calls.2.prompt'],
    ['calls.2.output', undefined, 'bad_field calls.2.output'],
    ['calls.0.tools.0', ['Bash'], 'bad_field calls.0.tools.0'],
    ['calls.0.tools.0.1', -3, 'bad_field calls.0.tools.0.1'],
  ])('with %s of %j is left out, and told', async (path, value, problem) => {
    const { programs, problems } = await readText(jsonLines([good, spoilt({ ...good, session: 'bad' }, path, value)]));
    expect(problems).toEqual([`2 ${problem}`]);
    expect(programs).toHaveLength(1);
  });
});

describeRecorded('agentcgroup/timings_first40.jsonl.gz', (path) => {
  it('are read whole, and their gaps hold their tools', async () => {
    const { format, programs, problems } = await readTrace(path);
    expect({ format, problems }).toEqual({ format: 'agentcgroup', problems: [] });
    expect(programs).toHaveLength(40);
    expect(programs.flatMap(({ calls }) => calls)).toHaveLength(1848);
    for (const { calls } of programs) {
      for (const [index, { gapMs }] of calls.entries()) {
        const longest = Math.max(0, ...(calls[index - 1]?.tools ?? []).map(({ ms = 0 }) => ms));
        expect(gapMs).toBeGreaterThanOrEqual(longest - 50);
      }
    }
  });
});
