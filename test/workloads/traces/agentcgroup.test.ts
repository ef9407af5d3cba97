import { describe, expect, it } from 'vitest';
import { callOf, itLeavesOut, itReadsRecorded, readText, readWhole } from '../../support/traces.js';
import { jsonLines } from '../../support/trajectory.js';

const call = (t: number, latency: number, prompt: number, tools: [string, number][] = []) => ({
  t,
  latency,
  prompt,
  output: 30,
  tools,
});
const reads: [string, number][] = [
  ['Read', 0.2],
  ['Read', 0.2004],
];
const calls = [call(0, 2, 100, [['Bash', 1.5]]), call(3.5, 1, 130, reads), call(4.7, 1, 150), call(5, 0.5, 90)];
const good = { session: 'good', calls };

describe('a session', () => {
  it('has the gaps between its calls, and their tools', async () => {
    const read = { name: 'Read', ms: 200 };
    const own = { outputTokens: 30 };
    const found = [
      callOf({ ...own, promptTokens: 100, tools: [{ name: 'Bash', ms: 1500 }] }),
      callOf({
        ...own,
        after: [0],
        gapMs: 1500,
        promptTokens: 130,
        prefix: { call: 0, tokens: 130 },
        tools: [read, read],
      }),
      // Not long enough for the answer before it.
      callOf({ ...own, after: [1], gapMs: 200, promptTokens: 150, prefix: { call: 1, tokens: 130 } }),
      // Sent before the one before it had ended: no gap is below zero.
      callOf({ ...own, after: [2], promptTokens: 90, prefix: { call: 2, tokens: 90 } }),
    ];
    expect(await readWhole(jsonLines([good]), 'agentcgroup')).toEqual([{ id: 'good', calls: found }]);
  });

  it('is put into order when its calls are not', async () => {
    const { programs } = await readText(jsonLines([{ ...good, calls: good.calls.toReversed() }]));
    expect(programs).toEqual((await readText(jsonLines([good]))).programs);
  });

  itLeavesOut(
    [
      ['session', ''],
      ['calls', [], 'empty'],
      ['calls.1.t', -1],
      ['calls.1.latency', null],
      ['calls.2.prompt', 0.5],
      ['calls.2.output', undefined],
      ['calls.0.tools.0', ['Bash']],
      ['calls.0.tools.0.1', -3],
    ],
    [good, { ...good, session: 'bad' }, { ...good, session: 'last' }],
    jsonLines,
  );
});

itReadsRecorded('agentcgroup', 'agentcgroup/timings_first40.jsonl.gz', (programs, all) => {
  expect([programs.length, all.length]).toEqual([40, 1848]);
  for (const { calls } of programs) {
    for (const [index, { gapMs }] of calls.entries()) {
      const longest = Math.max(0, ...(calls[index - 1]?.tools ?? []).map(({ ms = 0 }) => ms));
      expect(gapMs).toBeGreaterThanOrEqual(longest - 50);
    }
  }
});
