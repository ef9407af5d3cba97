import fc from 'fast-check';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import { asksForTools } from '../../../sidecar/apis/canonical.js';
import { apiFor, type CanonicalMessage, type JsonObject, type RequestFacts } from '../../../sidecar/apis/index.js';

const chat = apiFor('/v1/chat/completions')!;
const responses = apiFor('/v1/responses')!;
const messages = apiFor('/v1/messages')!;

const chatAnswer = (message: JsonObject) => chat.readAnswer({ choices: [{ message }] }).message;
const said = (facts: RequestFacts) => facts.conversation().map((turn) => turn.read());
const chatSent = (...list: JsonObject[]) => said(chat.readRequest({ model: 'm', messages: list }));
const claudeSent = (...list: JsonObject[]) => said(messages.readRequest({ model: 'm', messages: list })).slice(1);
const itemsSent = (...input: JsonObject[]) => said(responses.readRequest({ model: 'm', input })).slice(1);

const textPart = (text: string) => ({ type: 'text', text });
const calls = (...functions: JsonObject[]) => ({ tool_calls: functions.map((each) => ({ function: each })) });
const picture = (url: string) => ({ content: [{ type: 'image_url', image_url: { url } }] });

it('takes no answer without calls for one that asks for tools, whatever its characters', () => {
  const plain = { role: 'assistant', content: 'a\u0000ls\u0000{}' };
  const answer = chatAnswer(plain)!;
  expect([asksForTools(answer), chatSent(plain)[0]]).toEqual([false, answer]);
  expect(asksForTools(chatAnswer({ ...plain, ...calls({ name: 'ls' }) })!)).toBe(true);
});

describe('an answer sent back has the form that it was given in', () => {
  const call = { id: 'call_1', type: 'function', function: { name: 'ls', arguments: '{"path":"/","deep":true}' } };
  const looking = (given: unknown) => ({
    content: 'Let me look.',
    tool_calls: [{ ...call, function: { name: 'ls', arguments: given } }],
  });
  const answer = chatAnswer({ role: 'assistant', content: 'Let me look.\n', refusal: null, tool_calls: [call] });

  it.each<[string, JsonObject]>([
    ['as it came', { content: 'Let me look.\n', tool_calls: [call] }],
    ['trimmed', { content: 'Let me look.', tool_calls: [call] }],
    ['as parts', { content: [textPart('Let me '), textPart('look.')], tool_calls: [call] }],
    ['with reasoning', { content: 'Let me look.', reasoning_content: 'hmm', tool_calls: [call] }],
    ['with thoughts in the text', { content: '<think>hmm</think>\n\nLet me look.', tool_calls: [call] }],
    [
      'with extras',
      { name: 'bot', annotations: [], audio: null, content: 'Let me look.', tool_calls: [{ ...call, index: 0 }] },
    ],
    ['with arguments printed anew', looking('{ "deep": true, "path": "\\u002f" }')],
    ['with arguments as an object', looking({ deep: true, path: '/' })],
  ])('%s', (_how, message) => expect(chatSent({ role: 'assistant', ...message })[0]).toEqual(answer));

  it('but for the ids of its calls, which stand apart', () => {
    const sent = chatSent({ role: 'assistant', content: 'Let me look.', tool_calls: [{ ...call, id: 'x' }] })[0];
    expect(sent).toEqual({ ...answer, callIds: 'x' });
    expect(answer?.callIds).toBe('call_1');
  });

  it.each([null, '', ' \n', undefined, []])('with %j for no text', (content) => {
    const bare = chatAnswer({ content: null, tool_calls: [call] });
    expect(chatSent({ role: 'assistant', content, tool_calls: [call] })[0]).toEqual(bare);
  });

  it('in Anthropic’s blocks, without the thinking and with cache hints', () => {
    const content = [
      { type: 'thinking', thinking: 'hmm', signature: 's' },
      { type: 'text', text: 'Hello' },
      { type: 'tool_use', id: 't', name: 'ls', input: { a: 1, b: [2] } },
    ];
    const given = messages.readAnswer({ content }).message;
    const back = [
      { type: 'text', text: 'Hello', cache_control: { type: 'ephemeral' } },
      { type: 'tool_use', id: 't', name: 'ls', input: { b: [2], a: 1 }, cache_control: { type: 'ephemeral' } },
    ];
    expect(claudeSent({ role: 'assistant', content: back })).toEqual([given]);
  });

  it('in Responses items, as one or as several', () => {
    const output = [
      { type: 'reasoning', id: 'rs_1', summary: [] },
      {
        type: 'message',
        id: 'msg_1',
        role: 'assistant',
        content: [{ type: 'output_text', text: 'Hi', annotations: [] }],
      },
      { type: 'function_call', id: 'fc_1', call_id: 'c', name: 'ls', arguments: '{"a":1}', status: 'completed' },
      { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { query: 'q' } },
      { type: 'custom_tool_call', id: 'ct_1', call_id: 'd', name: 'patch', input: '*** Begin' },
    ];
    const given = responses.readAnswer({ output }).message!;
    const back = [
      { role: 'user', content: 'go' },
      { role: 'assistant', content: 'Hi' },
      { type: 'function_call', call_id: 'c', name: 'ls', arguments: '{ "a": 1 }' },
      { type: 'web_search_call', action: { query: 'q' } },
      { type: 'reasoning', encrypted_content: 'x' },
      { type: 'custom_tool_call', call_id: 'd', name: 'patch', input: '*** Begin' },
      { type: 'function_call_output', call_id: 'c', output: 'done' },
    ];
    expect(itemsSent(...back).map(({ role }) => role)).toEqual(['user', 'assistant', 'function_call_output']);
    expect(itemsSent(...back)[1]).toEqual(given);
  });

  it('in whatever order, spacing and escapes the arguments are printed (property)', () => {
    // Most tool arguments are objects of a few plain values. If their keys are in order, a faster path prints them.
    const key = fc.constantFrom('a', 'b', 'B', '10', '9', 'é', '__proto__', '');
    const args = fc.dictionary(key, fc.oneof(fc.jsonValue({ maxDepth: 1 }), fc.constant(null), fc.integer()), {
      maxKeys: 5,
    });
    const contentOf = (text: string) => {
      const call = { id: 'c', type: 'function', function: { name: 'f', arguments: text } };
      return chatAnswer({ role: 'assistant', content: null, tool_calls: [call] })?.content;
    };
    const shuffled = (value: object) => JSON.stringify(Object.fromEntries(Object.entries(value).reverse()), null, 2);
    fc.assert(
      fc.property(args, args, (one, other) => {
        expect(contentOf(shuffled(one))).toBe(contentOf(JSON.stringify(one)));
        const isSame = isDeepStrictEqual(JSON.parse(JSON.stringify(one)), JSON.parse(JSON.stringify(other)));
        expect(contentOf(JSON.stringify(other)) === contentOf(JSON.stringify(one))).toBe(isSame);
      }),
      { numRuns: 2000, seed: 5 },
    );
  });

  it('whatever the text and the arguments (property)', () => {
    fc.assert(
      fc.property(fc.string(), fc.dictionary(fc.string(), fc.jsonValue()), (text, args) => {
        const given = chatAnswer({
          content: `${text}\n`,
          tool_calls: [{ function: { name: 'f', arguments: JSON.stringify(args) } }],
        });
        const printed = JSON.stringify(Object.fromEntries(Object.entries(args).reverse()), null, 2);
        const back = chatSent({
          role: 'assistant',
          content: [{ type: 'text', text: ` ${text}` }],
          tool_calls: [{ function: { name: 'f', arguments: printed } }],
        });
        expect(back[0]).toEqual(given);
      }),
      { seed: 1 },
    );
  });
});

describe('what an engine would read differently differs', () => {
  const form = (message: JsonObject): CanonicalMessage => chatSent({ role: 'user', ...message })[0]!;

  it.each<[string, JsonObject, JsonObject]>([
    ['text', { content: 'a' }, { content: 'b' }],
    ['inner space', { content: 'a b' }, { content: 'ab' }],
    ['role', { content: 'a' }, { role: 'system', content: 'a' }],
    ['picture', picture('a'), picture('b')],
    ['tool', calls({ name: 'a' }), calls({ name: 'b' })],
    ['argument', calls({ name: 'a', arguments: '{"x":1}' }), calls({ name: 'a', arguments: '{"x":2}' })],
    ['number of calls', calls({ name: 'a' }), calls({ name: 'a' }, { name: 'a' })],
    ['result and text', { content: [{ type: 'tool_result', content: 'x' }] }, { content: 'x' }],
  ])('%s', (_what, a, b) => expect(form(a)).not.toEqual(form(b)));
});
