import { describe, expect, it } from 'vitest';
import type { AgentMessage } from '../../../workloads/index.js';
import { callOf, itLeavesOut, itReadsRecorded, readText, readWhole } from '../../support/traces.js';

const use = { id: 'call_1', type: 'function', function: { name: 'find', arguments: '{"a":1}' } };
const good = {
  task_id: 3,
  trial: 1,
  reward: 0,
  traj: [
    { role: 'system', content: 'Be of help.' },
    { role: 'user', content: 'Where is it?' },
    { role: 'assistant', content: null, tool_calls: [use] },
    { role: 'tool', tool_call_id: 'call_1', name: 'find', content: 'Here.' },
    { role: 'assistant', content: 'It is here.', tool_calls: null },
    { role: 'user', content: '###STOP###' },
  ],
};

describe('a dialogue', () => {
  it('is what was said, its tokens counted from the text', async () => {
    const [program] = await readWhole(JSON.stringify([good]), 'tau-bench');
    const asked = callOf({
      ...{ promptTokens: 3 + 3, outputTokens: 1 + 2, answer: '' },
      prefix: { name: expect.stringMatching(/^system-/) as string, tokens: 3 },
      tools: [{ id: 'call_1', name: 'find', arguments: '{"a":1}' }],
      messages: good.traj.slice(0, 2) as AgentMessage[],
    });
    const told = callOf({
      ...{ after: [0], promptTokens: 6 + 3 + 2, outputTokens: 3, prefix: { call: 0, tokens: 9 } },
      messages: [{ role: 'tool', content: 'Here.', tool: 'call_1' }],
      answer: 'It is here.',
    });
    expect(program).toEqual({ id: 'task-3-trial-1', calls: [asked, told] });
  });

  itLeavesOut(
    [
      ['task_id', null],
      ['trial', 'x'],
      ['traj', undefined],
      ['traj', [], 'empty'],
      ['traj', good.traj.slice(2), 'bad_field traj.0'],
      ['traj.1.role', 'oracle'],
      ['traj.1.content', null],
      ['traj.3.tool_call_id', 7],
      ['traj.2.tool_calls.0.function', {}, 'bad_field traj.2.tool_calls.0.function.name'],
    ],
    [good, { ...good, trial: 2 }, { ...good, trial: 3 }],
    (list) => JSON.stringify(list, undefined, 2),
  );

  it('is kept when the list is cut behind it', async () => {
    const text = JSON.stringify([good, { ...good, trial: 2 }, { ...good, trial: 3 }]);
    const { programs, problems } = await readText(text.slice(0, -30));
    expect(programs).toHaveLength(2);
    expect(problems).toEqual(['3 not_json']);
  });
});

itReadsRecorded('tau-bench', 'tau-bench/gpt-4o-airline.json.gz', (programs, calls) => {
  expect([programs.length, calls.length]).toEqual([200, 2454]);
  expect(calls.filter(({ tools }) => tools !== undefined)).toHaveLength(1164);
  // All begin with the same words.
  expect(new Set(programs.map((program) => JSON.stringify(program.calls[0]?.prefix))).size).toBe(1);
});
