import { describe, expect, it } from 'vitest';
import { openTrace } from '../../../workloads/index.js';
import { fileOf } from '../../support/folder.js';
import { callOf, itReadsRecorded, readText, readWhole, spoilt } from '../../support/traces.js';
import { jsonLines, trajectory } from '../../support/trajectory.js';

const good = trajectory('good', ['first', 'second', 'third'], 4);

describe('a recorded program', () => {
  it('is what its client sent, call by call', async () => {
    // Four bytes a token of what is not counted: 17 of the system and 12 of the task.
    const first = callOf({
      promptTokens: 5 + 3,
      outputTokens: 20,
      prefix: { name: expect.stringMatching(/^system-[\da-f]{12}$/) as string, tokens: 5 },
      messages: [
        { role: 'system', content: 'You are an agent.' },
        { role: 'user', content: 'Task of good' },
      ],
      answer: 'first',
    });
    const later = (call: number, gapMs: number, promptTokens: number, outputTokens: number, answer: string) =>
      callOf({
        ...{ after: [call], gapMs, promptTokens, outputTokens, answer, prefix: { call, tokens: promptTokens } },
        messages: [{ role: 'user', content: `Output ${call} of good` }],
      });
    // Four seconds from call to call, less one for the model and 10 ms for each of its tokens.
    const calls = [first, later(0, 2800, 8 + 2 + 4, 21, 'second'), later(1, 2790, 14 + 2 + 4, 22, 'third')];
    const [program] = await readWhole(jsonLines([good]), 'mini-swe-agent');
    expect(program).toEqual({ id: 'good', arrivalMs: 1_700_000_000_000, calls });
  });

  it('has the tokens that were counted, and keeps no answer that was reasoned', async () => {
    const usage = (prompt_tokens: number, completion_tokens: number, reasoning_tokens?: number) => ({
      prompt_tokens,
      completion_tokens,
      completion_tokens_details: { reasoning_tokens },
    });
    let counted = spoilt(good, 'messages.2.extra.response.usage', usage(1000, 50));
    counted = spoilt(counted, 'messages.4.extra.response.usage', usage(1200, 300, 250));
    counted = spoilt(counted, 'messages.6.extra.response.usage', usage(1400, 0));
    const { programs } = await readText(jsonLines([counted]));
    expect(programs[0]?.calls).toMatchObject([
      { promptTokens: 1000, outputTokens: 50 },
      { promptTokens: 1200, outputTokens: 300, prefix: { call: 0, tokens: 1050 } },
      { promptTokens: 1400, outputTokens: 0, prefix: { call: 1, tokens: 1200 } },
    ]);
  });
});

const TOKENS = 'messages.2.extra.response.usage.completion_tokens';
const CREATED = 'messages.2.extra.response.created';
const changed = (path: string, value: unknown) => JSON.stringify(spoilt(good, path, value));

describe('a malformed recording', () => {
  it.each([
    ['not JSON', '{"instance_id": "cut', 'not_json'],
    ['a number', '7', 'bad_field'],
    ['no id', changed('instance_id', undefined), 'bad_field instance_id'],
    ['an id that was there', changed('instance_id', 'good'), 'duplicate'],
    ['no message', JSON.stringify({ instance_id: 'none', messages: [] }), 'empty'],
    ['no answer', JSON.stringify({ instance_id: 'none', messages: good.messages.slice(0, 2) }), 'empty'],
    ['a role unheard of', changed('messages.1.role', 'oracle'), 'bad_field messages.1.role'],
    ['content of a number', changed('messages.3.content', 1), 'bad_field messages.3.content'],
    ['an answer without its data', changed('messages.2.extra', undefined), 'bad_field messages.2.extra'],
    ['tokens below zero', changed(TOKENS, -1), `bad_field ${TOKENS}`],
    ['a time without end', changed(CREATED, 0).replace('"created":0', '"created":1e999'), `bad_field ${CREATED}`],
    ['an answer to nothing', changed('messages', good.messages.slice(2)), 'bad_field messages.0'],
    ['two answers in a row', changed('messages', good.messages.toSpliced(3, 1)), 'bad_field messages.3'],
  ])('of %s is named by line and field, and left out', async (_, line, problem) => {
    const text = `${jsonLines([good])}\n${line}\n${jsonLines([trajectory('last', ['a'])])}`;
    const { programs, problems } = await readText(text);
    expect(programs.map(({ id }) => id)).toEqual(['good', 'last']);
    expect(problems).toEqual([`3 ${problem}`]);
  });

  it('is thrown where nobody wants to be told', async () => {
    const { programs } = await openTrace(fileOf('a.jsonl', `${jsonLines([good])}{}\n`));
    expect((await programs.next()).value).toMatchObject({ id: 'good' });
    const place = { unit: 'line', number: 2 };
    await expect(programs.next()).rejects.toMatchObject({ code: 'bad_field', place, field: 'instance_id' });
  });
});

itReadsRecorded(
  'mini-swe-agent',
  'mini-swe-agent/gemini-3-pro_swebench-verified_first60.jsonl.gz',
  (programs, calls) => {
    expect([programs.length, calls.length]).toEqual([60, 2265]);
    expect(Math.max(...calls.map(({ gapMs }) => gapMs))).toBeLessThan(600_000);
    expect(Math.max(...calls.map(({ promptTokens }) => promptTokens))).toBeGreaterThan(40_000);
  },
);
