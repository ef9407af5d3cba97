import { describe, expect, it } from 'vitest';
import { apiFor, type JsonObject } from '../../../sidecar/apis/index.js';
import { GatewayError } from '../../../sidecar/errors.js';
import { api } from './api.js';

const CHAT = '/v1/chat/completions';
const COMPLETIONS = '/v1/completions';
const RESPONSES = '/v1/responses';
const MESSAGES = '/v1/messages';
const COUNT = '/v1/messages/count_tokens';
const EMBEDDINGS = '/v1/embeddings';

const user = [{ role: 'user', content: 'hi' }];

/** The invalid field that a refusal names; `undefined` if the request is accepted. */
function blamed(path: string, body: JsonObject): string | undefined {
  try {
    api(path).readRequest(body);
    return undefined;
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    expect(error.code).toBe('invalid_body');
    return error.detail.param ?? 'no field named';
  }
}

describe('which API speaks at a path', () => {
  it('knows its six paths, with or without a query', () => {
    const kinds = [CHAT, COMPLETIONS, RESPONSES, MESSAGES, COUNT, EMBEDDINGS].map((path) => api(path).kind);
    expect(kinds).toEqual(['chat', 'completions', 'responses', 'messages', 'count_tokens', 'embeddings']);
    expect(apiFor(`${MESSAGES}?beta=true`)?.kind).toBe('messages');
  });

  it.each(['/v1/models', '/v1/responses/resp_1', '/v1/chat/completions/', '/V1/messages', '/tokenize', ''])(
    'passes %j through',
    (path) => expect(apiFor(path)).toBeUndefined(),
  );
});

describe('requests that are refused name the field', () => {
  const withBody = (base: JsonObject) => (change: JsonObject) => ({ model: 'm', ...base, ...change });
  const chat = withBody({ messages: user });
  const text = withBody({ prompt: 'p' });
  const response = withBody({ input: 'p' });

  it.each<[string, JsonObject, string]>([
    [RESPONSES, response({ background: true }), 'background'],
    [CHAT, { messages: user }, 'model'],
    [CHAT, chat({ model: 7 }), 'model'],
    [CHAT, chat({ model: ' ' }), 'model'],
    [CHAT, { model: 'm' }, 'messages'],
    [CHAT, chat({ messages: 'hi' }), 'messages'],
    [CHAT, chat({ messages: [] }), 'messages'],
    [CHAT, chat({ messages: ['hi'] }), 'messages[0]'],
    [CHAT, chat({ messages: [...user, null] }), 'messages[1]'],
    [CHAT, chat({ messages: [{ content: 'hi' }] }), 'messages[0].role'],
    [CHAT, chat({ messages: [{ role: 'user', content: 5 }] }), 'messages[0].content'],
    [CHAT, chat({ messages: [{ role: 'user', content: ['a', 5] }] }), 'messages[0].content[1]'],
    [CHAT, chat({ stream: 'true' }), 'stream'],
    [CHAT, chat({ stream_options: true }), 'stream_options'],
    [CHAT, chat({ max_tokens: 0 }), 'max_tokens'],
    [CHAT, chat({ max_tokens: 1.5 }), 'max_tokens'],
    [CHAT, chat({ max_tokens: '10' }), 'max_tokens'],
    [CHAT, chat({ max_completion_tokens: 0 }), 'max_completion_tokens'],
    [CHAT, chat({ n: 0 }), 'n'],
    [COMPLETIONS, { model: 'm' }, 'prompt'],
    [COMPLETIONS, text({ prompt: 5 }), 'prompt'],
    [COMPLETIONS, text({ prompt: ['a', 1] }), 'prompt'],
    [COMPLETIONS, text({ prompt: [[1], ['a']] }), 'prompt'],
    [COMPLETIONS, text({ max_tokens: -2 }), 'max_tokens'],
    [RESPONSES, { model: 'm' }, 'input'],
    [RESPONSES, response({ input: 5 }), 'input'],
    [RESPONSES, response({ input: ['hi'] }), 'input[0]'],
    [RESPONSES, response({ input: [{ content: 'hi' }] }), 'input[0].role'],
    [RESPONSES, response({ input: [{ role: 'user', content: 5 }] }), 'input[0].content'],
    [RESPONSES, response({ previous_response_id: 5 }), 'previous_response_id'],
    [RESPONSES, response({ max_output_tokens: 0 }), 'max_output_tokens'],
    [MESSAGES, { model: 'm', max_tokens: 5 }, 'messages'],
    [MESSAGES, chat({ system: 5 }), 'system'],
    [MESSAGES, chat({ system: [5] }), 'system[0]'],
    [MESSAGES, chat({ max_tokens: 0 }), 'max_tokens'],
    [MESSAGES, chat({ messages: [{ role: 'user', content: [7] }] }), 'messages[0].content[0]'],
    [COUNT, { messages: user }, 'model'],
    [COUNT, { model: 'm' }, 'messages'],
    [EMBEDDINGS, { model: 'm' }, 'input'],
    [EMBEDDINGS, { model: 'm', input: 5 }, 'input'],
    [EMBEDDINGS, { input: 'a' }, 'model'],
  ])('%s %j: %s', (path, body, field) => expect(blamed(path, body)).toBe(field));
});

describe('what real clients send is accepted', () => {
  const said = (...messages: JsonObject[]) => ({ messages });
  it.each<[string, JsonObject]>([
    [CHAT, said({ role: 'developer', content: 'x' }, { role: 'assistant', content: null, tool_calls: [] })],
    [CHAT, { messages: [{ role: 'assistant', tool_calls: [{ id: 'c', function: { name: 'f', arguments: '{}' } }] }] }],
    [CHAT, { messages: [{ role: 'user', content: [{ type: 'never_heard_of', x: 1 }, 'plain'] }] }],
    [
      CHAT,
      { ...said({ role: 'ipython', content: '' }), stream: null, max_tokens: null, stream_options: null, n: null },
    ],
    [CHAT, { messages: user, tools: 'nonsense', temperature: 'hot', unknown: [[[]]] }],
    [COMPLETIONS, { prompt: ['a', 'b'], max_tokens: 0, echo: true }],
    [COMPLETIONS, { prompt: [1, 2, 3] }],
    [COMPLETIONS, { prompt: [[1], [2, 3]] }],
    [COMPLETIONS, { prompt: '' }],
    [COMPLETIONS, { prompt: null, prompt_embeds: 'b64' }],
    [RESPONSES, { input: 'hi', instructions: 'be brief' }],
    [RESPONSES, { input: [], tools: [{ type: 'namespace', name: 'n', tools: [] }] }],
    [RESPONSES, { input: [{ type: 'compaction', encrypted_content: 'x' }] }],
    [RESPONSES, { input: [{ type: 'function_call_output', output: [] }] }],
    [RESPONSES, { input: [{ role: 'developer', content: [{ type: 'input_text', text: 'a' }] }] }],
    [RESPONSES, { previous_response_id: 'resp_1' }],
    [RESPONSES, { prompt: { id: 'pmpt_1' } }],
    [MESSAGES, { messages: user, system: [{ type: 'text', text: 's', cache_control: { type: 'ephemeral' } }] }],
    [MESSAGES, { messages: [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: null }] }] }],
    [COUNT, { messages: user, system: 'x' }],
    [EMBEDDINGS, { input: [{ text: 'a' }] }],
    [EMBEDDINGS, { messages: user }],
  ])('%s %j', (path, body) => expect(blamed(path, { model: 'm', ...body })).toBeUndefined());
});

describe('what a request says', () => {
  it('reads the stream switch, the limit and the number of answers', () => {
    const read = (path: string, body: JsonObject) => api(path).readRequest({ model: 'm', ...body });
    expect(read(CHAT, { messages: user, stream: true, max_tokens: 9, max_completion_tokens: 7, n: 3 })).toMatchObject({
      model: 'm',
      stream: true,
      maxTokens: 7,
      choices: 3,
      wantsUsage: false,
    });
    expect(read(CHAT, { messages: user, max_tokens: -1 }).maxTokens).toBeUndefined();
    expect(read(COMPLETIONS, { prompt: ['a', 'b'], n: 2, max_tokens: 0 })).toMatchObject({ choices: 4, maxTokens: 0 });
    expect(read(RESPONSES, { input: 'a', max_output_tokens: 3, previous_response_id: 'r' })).toMatchObject({
      maxTokens: 3,
      previousResponseId: 'r',
    });
    expect(read(COUNT, { messages: user, stream: true, max_tokens: 50 })).toMatchObject({
      stream: false,
      maxTokens: 0,
    });
  });

  it('has no conversation where the body does not hold all of it', () => {
    const conversation = (path: string, body: JsonObject) =>
      api(path)
        .readRequest({ model: 'm', ...body })
        .conversation();
    expect(conversation(RESPONSES, { input: 'a' })).toHaveLength(2);
    expect(conversation(RESPONSES, { input: 'a', previous_response_id: 'r' })).toEqual([]);
    expect(conversation(RESPONSES, { input: 'a', conversation: 'c' })).toEqual([]);
    expect(conversation(COMPLETIONS, { prompt: 'a' })).toEqual([]);
    expect(conversation(EMBEDDINGS, { input: 'a' })).toEqual([]);
    expect(conversation(COUNT, { messages: user })).toEqual([]);
  });

  it('asks for usage once, and leaves the other stream options alone', () => {
    const fields = (body: JsonObject) => api(CHAT).usageFields!(body);
    expect(fields({ stream: true })).toEqual({ stream_options: { include_usage: true } });
    expect(fields({ stream: true, stream_options: { x: 1, include_usage: false } })).toEqual({
      stream_options: { include_usage: true },
    });
    expect(fields({ stream: true, stream_options: { continuous_usage_stats: true } })).toEqual({
      stream_options: { continuous_usage_stats: false, include_usage: true },
    });
    expect(fields({ stream: true, stream_options: { include_usage: true } })).toEqual({});
    expect(fields({ stream: false })).toEqual({});
    for (const path of [RESPONSES, MESSAGES, EMBEDDINGS]) expect('usageFields' in api(path)).toBe(false);
  });

  it('counts text in bytes, tools along with messages, token ids by four, and media by a fixed sum', () => {
    const bytes = (path: string, body: JsonObject) => api(path).readRequest({ model: 'm', ...body }).promptBytes;
    const plain = bytes(CHAT, { messages: [{ role: 'user', content: '' }] });
    expect(bytes(CHAT, { messages: [{ role: 'user', content: 'ab会' }] }) - plain).toBe(5);
    expect(bytes(CHAT, { messages: user, tools: [{ d: 'x'.repeat(1000) }] })).toBeGreaterThan(1000);
    expect(bytes(COMPLETIONS, { prompt: [1, 2, 3] })).toBe(12);
    const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(1e6)}` } };
    const picture = bytes(CHAT, { messages: [{ role: 'user', content: [image] }] });
    expect(picture).toBeGreaterThan(4000);
    expect(picture).toBeLessThan(5000);
  });

  it('survives bodies nested deeper than the stack', () => {
    const nested: unknown = JSON.parse('['.repeat(200_000) + ']'.repeat(200_000));
    let result: JsonObject = { type: 'tool_result', content: 'end' };
    for (let i = 0; i < 100_000; i++) result = { type: 'tool_result', content: [result] };
    const args = '{"a":'.repeat(100_000) + '1' + '}'.repeat(100_000);
    const calls = Array.from({ length: 200_000 }, () => ({ function: { name: 'f', arguments: '' } }));
    const facts = api(CHAT).readRequest({
      model: 'm',
      tools: nested,
      messages: [
        { role: 'user', content: [{ type: 'x', nested }] },
        { role: 'user', content: [result] },
        { role: 'assistant', tool_calls: [{ function: { name: 'f', arguments: args } }] },
        { role: 'assistant', tool_calls: calls },
      ],
    });
    expect(facts.conversation().map((turn) => turn.read())).toHaveLength(4);
  });
});
