import { describe, expect, it } from 'vitest';
import { describeRecorded, readText, readTrace, spoilt } from '../../support/traces.js';

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
    const { format, programs, problems } = await readText(JSON.stringify([good]));
    expect({ format, problems }).toEqual({ format: 'tau-bench', problems: [] });
    expect(programs).toEqual([
      {
        id: 'task-3-trial-1',
        calls: [
          {
            after: [],
            gapMs: 0,
            thread: '',
            promptTokens: 3 + 3,
            outputTokens: 1 + 2,
            prefix: { name: expect.stringMatching(/^system-/) as string, tokens: 3 },
            tools: [{ id: 'call_1', name: 'find', arguments: '{"a":1}' }],
            messages: [
              { role: 'system', content: 'Be of help.' },
              { role: 'user', content: 'Where is it?' },
            ],
            answer: '',
          },
          {
            after: [0],
            gapMs: 0,
            thread: '',
            promptTokens: 6 + 3 + 2,
            outputTokens: 3,
            prefix: { call: 0, tokens: 9 },
            messages: [{ role: 'tool', content: 'Here.', tool: 'call_1' }],
            answer: 'It is here.',
          },
        ],
      },
    ]);
  });

  it.each([
    ['task_id', null, 'bad_field task_id'],
    ['trial', 'x', 'bad_field trial'],
    ['traj', undefined, 'bad_field traj'],
    ['traj', [], 'empty'],
    ['traj', good.traj.slice(2), 'bad_field traj.0'],
    ['traj.1.role', 'oracle', 'bad_field traj.1.role'],
    ['traj.1.content', null, 'bad_field traj.1.content'],
    ['traj.3.tool_call_id', 7, 'bad_field traj.3.tool_call_id'],
    ['traj.2.tool_calls.0.function', {}, 'bad_field traj.2.tool_calls.0.function.name'],
  ])('with %s of %j is left out, and told', async (path, value, problem) => {
    const list = [good, spoilt({ ...good, trial: 2 }, path, value), { ...good, trial: 3 }];
    const { programs, problems } = await readText(JSON.stringify(list, undefined, 2));
    expect(problems).toEqual([`2 ${problem}`]);
    expect(programs.map(({ id }) => id)).toEqual(['task-3-trial-1', 'task-3-trial-3']);
  });

  it('is kept when the list is cut behind it', async () => {
    const text = JSON.stringify([good, { ...good, trial: 2 }, { ...good, trial: 3 }]);
    const { programs, problems } = await readText(text.slice(0, -30));
    expect(programs).toHaveLength(2);
    expect(problems).toEqual(['3 not_json']);
  });
});

describeRecorded('tau-bench/gpt-4o-airline.json.gz', (path) => {
  it('are read whole', async () => {
    const { format, programs, problems } = await readTrace(path);
    expect({ format, problems }).toEqual({ format: 'tau-bench', problems: [] });
    expect(programs).toHaveLength(200);
    const calls = programs.flatMap((program) => program.calls);
    expect(calls).toHaveLength(2454);
    expect(calls.filter(({ tools }) => tools !== undefined)).toHaveLength(1164);
    // All begin with the same words.
    expect(new Set(programs.map((program) => JSON.stringify(program.calls[0]?.prefix))).size).toBe(1);
  });
});
