import { describe, expect, it } from 'vitest';
import type { Api, JsonObject, SseEvent, StreamReader } from '../../../sidecar/apis/index.js';
import { GatewayError } from '../../../sidecar/errors.js';
import { chat, completions, embeddings, messages, responses } from './api.js';

const body = { model: 'm', messages: [{ role: 'user', content: 'hi' }], input: 'hi', prompt: 'hi' };

function open(from: Api, change: JsonObject = {}, wantsMessage = false): StreamReader {
  return from.readStream(from.readRequest({ ...body, stream: true, ...change }), wantsMessage);
}

const data = (value: unknown): SseEvent => ({ data: typeof value === 'string' ? value : JSON.stringify(value) });
const named = (value: JsonObject): SseEvent => ({ event: String(value['type']), data: JSON.stringify(value) });
const delta = (content: JsonObject, finish: string | null = null, index = 0) =>
  data({ id: 'c', choices: [{ index, delta: content, finish_reason: finish }] });
const USAGE = { prompt_tokens: 10, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 8 } };

describe('usage', () => {
  it('reads chat, completions and embeddings', () => {
    const expected = { promptTokens: 10, outputTokens: 5, cachedTokens: 8 };
    expect(chat.readAnswer({ usage: USAGE }).usage).toEqual(expected);
    expect(completions.readAnswer({ usage: USAGE }).usage).toEqual(expected);
    expect(embeddings.readAnswer({ usage: { prompt_tokens: 4 } }).usage).toEqual({ promptTokens: 4, outputTokens: 0 });
  });

  it('reads responses, with the id', () => {
    const usage = { input_tokens: 10, output_tokens: 5, input_tokens_details: { cached_tokens: 8 } };
    expect(responses.readAnswer({ id: 'x'.repeat(257), usage }).responseId).toBeUndefined();
    const read = { promptTokens: 10, outputTokens: 5, cachedTokens: 8 };
    expect(responses.readAnswer({ id: 'resp_1', usage })).toMatchObject({ responseId: 'resp_1', usage: read });
  });

  it('adds what Anthropic counts apart from the input', () => {
    const usage = { input_tokens: 1, cache_read_input_tokens: 8, cache_creation_input_tokens: 2, output_tokens: 5 };
    expect(messages.readAnswer({ usage }).usage).toEqual({ promptTokens: 11, outputTokens: 5, cachedTokens: 8 });
    const uncached = { ...usage, cache_read_input_tokens: null };
    expect(messages.readAnswer({ usage: uncached }).usage).toEqual({ promptTokens: 3, outputTokens: 5 });
  });
});

describe('counts that an engine cannot have made', () => {
  it.each([
    { prompt_tokens: 1e308, completion_tokens: 5 },
    { prompt_tokens: 1e9 + 1, completion_tokens: 5 },
    { prompt_tokens: 1.5, completion_tokens: 5 },
    { prompt_tokens: 10, completion_tokens: 1e308 },
    { prompt_tokens: 10, completion_tokens: -1 },
    { prompt_tokens: 10, completion_tokens: '5' },
  ])('takes %j, which no engine can have counted, for no usage', (usage) => {
    expect(chat.readAnswer({ usage }).usage).toBeUndefined();
    expect(completions.readAnswer({ usage }).usage).toBeUndefined();
  });

  it.each([11, 99_999, 1e308, 0.5, -1, '8', null])('takes %j cached tokens of ten for unknown', (cached_tokens) => {
    const usage = { prompt_tokens: 10, completion_tokens: 5, prompt_tokens_details: { cached_tokens } };
    expect(chat.readAnswer({ usage }).usage).toEqual({ promptTokens: 10, outputTokens: 5 });
  });

  it('believes counts up to 1e9', () => {
    const usage = { prompt_tokens: 1e9, completion_tokens: 1e9, prompt_tokens_details: { cached_tokens: 1e9 } };
    expect(chat.readAnswer({ usage }).usage).toEqual({ promptTokens: 1e9, outputTokens: 1e9, cachedTokens: 1e9 });
  });
});

describe('chat streams', () => {
  it('hides exactly the usage chunk that the client did not ask for', () => {
    const chunk = data({ choices: [], usage: USAGE, metrics: { queue_time_ms: 3 } });
    const reader = open(chat);
    expect(reader.push(data({ choices: [], prompt_filter_results: [] }))).toBe('forward');
    expect(reader.push(delta({ content: 'say "usage": {' }))).toBe('forward');
    expect(reader.push(data({ choices: [{ index: 0, delta: {} }], usage: null }))).toBe('forward');
    expect(reader.push(delta({}, 'stop'))).toBe('forward');
    expect(reader.push(chunk)).toBe('hide');
    expect(reader.push(data('[DONE]'))).toBe('forward');
    const usageObject = { metrics: { queue_time_ms: 3 } };
    expect(reader.facts()).toMatchObject({ usage: { promptTokens: 10 }, usageObject });
    expect(open(chat, { stream_options: { include_usage: true } }).push(chunk)).toBe('forward');
  });

  it('reads usage that rides on the last content chunk, and shows the chunk', () => {
    const reader = open(chat);
    expect(reader.push(data({ choices: [{ index: 0, delta: { content: 'x' } }], usage: USAGE }))).toBe('forward');
    expect(reader.facts().usage).toMatchObject({ outputTokens: 5 });
  });

  it('is whole at [DONE], or when every choice has ended', () => {
    const done = open(chat);
    done.push(delta({ content: 'x' }));
    expect(done.complete).toBe(false);
    done.push(data('[DONE]'));
    expect(done.complete).toBe(true);
    const two = open(chat, { n: 2 });
    two.push(delta({}, 'stop', 1));
    expect(two.complete).toBe(false);
    two.push(delta({}, 'length', 0));
    expect(two.complete).toBe(true);
  });

  it('puts the answer together, first choice only', () => {
    const reader = open(chat, { n: 2 }, true);
    reader.push(delta({ role: 'assistant', content: 'Let ' }));
    reader.push(delta({ content: 'other' }, null, 1));
    reader.push(delta({ reasoning_content: 'hmm' }));
    reader.push(delta({ content: 'me look' }));
    reader.push(delta({ tool_calls: [{ index: 0, id: 'a', function: { name: 'ls', arguments: '' } }] }));
    reader.push(delta({ tool_calls: [{ index: 3, id: 'b', function: { name: 'cat', arguments: '{}' } }] }));
    reader.push(delta({ tool_calls: [{ index: 0, function: { arguments: '{"b":1,' } }] }));
    reader.push(delta({ tool_calls: [{ index: 0, function: { arguments: '"a":2}' } }] }));
    expect(reader.facts().message).toBeUndefined();
    reader.push(data('[DONE]'));
    const ls = { function: { name: 'ls', arguments: '{"a": 2, "b": 1}' } };
    const tool_calls = [ls, { function: { name: 'cat', arguments: '{}' } }];
    const whole = chat.readAnswer({ choices: [{ message: { content: 'Let me look', tool_calls } }] });
    expect(reader.facts()).toMatchObject({ message: whole.message });
  });

  it('puts calls together that carry no index', () => {
    const reader = open(chat, {}, true);
    const call = (called: JsonObject) => reader.push(delta({ tool_calls: [{ function: called }] }));
    for (const called of [{ name: 'a', arguments: '{"x"' }, { arguments: ':1}' }, { name: 'b' }]) call(called);
    reader.push(data('[DONE]'));
    const calls = [{ function: { name: 'a', arguments: '{"x":1}' } }, { function: { name: 'b' } }];
    const whole = chat.readAnswer({ choices: [{ message: { tool_calls: calls } }] });
    expect(reader.facts().message).toEqual(whole.message);
  });

  it('sees and hides an error that the engine sends, which is none of an answer that is whole', () => {
    const reader = open(chat);
    expect(reader.push(data({ error: null, choices: [] }))).toBe('forward');
    expect(reader.failed).toBe(false);
    expect(reader.push(data({ error: { message: 'boom', code: 500 } }))).toBe('hide');
    expect([reader.failed, reader.complete]).toEqual([true, false]);
    const whole = open(chat);
    whole.push(data({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }));
    expect(whole.push(data({ error: 'boom' }))).toBe('hide');
    expect([whole.failed, whole.complete]).toEqual([false, true]);
  });

  it('does not keep an answer longer than it remembers', () => {
    const reader = open(chat, {}, true);
    for (let i = 0; i < 9; i++) reader.push(delta({ content: 'x'.repeat(500_000) }));
    reader.push(data('[DONE]'));
    expect(reader.facts().message).toBeUndefined();
  });
});

describe('completions streams', () => {
  it('hides the usage chunk and is whole when every prompt has its answer', () => {
    const reader = open(completions, { prompt: ['a', 'b'] });
    reader.push(data({ choices: [{ index: 0, text: 'x', finish_reason: 'stop' }] }));
    expect(reader.complete).toBe(false);
    reader.push(data({ choices: [{ index: 1, text: 'x', finish_reason: 'stop' }] }));
    expect(reader.complete).toBe(true);
    expect(reader.push(data({ choices: [], usage: USAGE }))).toBe('hide');
  });
});

describe('messages streams', () => {
  const usage = { input_tokens: 3, cache_read_input_tokens: 7, output_tokens: 1 };
  const start = named({ type: 'message_start', message: { id: 'msg_1', usage } });
  const end = [
    named({ type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { input_tokens: 0, output_tokens: 20 } }),
    named({ type: 'message_stop' }),
  ];

  it('joins the usage of the start with that of the end', () => {
    const reader = open(messages);
    for (const event of [start, ...end]) expect(reader.push(event)).toBe('forward');
    expect(reader.complete).toBe(true);
    expect(reader.facts().usage).toEqual({ promptTokens: 10, outputTokens: 20, cachedTokens: 7 });
  });

  it('puts the answer together', () => {
    const reader = open(messages, {}, true);
    const block = (index: number, content_block: JsonObject) =>
      named({ type: 'content_block_start', index, content_block });
    const piece = (index: number, d: JsonObject) => named({ type: 'content_block_delta', index, delta: d });
    const events = [
      start,
      block(0, { type: 'thinking', thinking: '' }),
      piece(0, { type: 'thinking_delta', thinking: 'hmm' }),
      block(1, { type: 'text', text: '' }),
      piece(1, { type: 'text_delta', text: 'I ' }),
      piece(1, { type: 'text_delta', text: 'look' }),
      block(2, { type: 'tool_use', id: 't', name: 'ls', input: {} }),
      piece(2, { type: 'input_json_delta', partial_json: '{"p":' }),
      piece(2, { type: 'input_json_delta', partial_json: '1}' }),
      block(3, { type: 'tool_use', id: 'u', name: 'pwd', input: {} }),
      ...end,
    ];
    for (const event of events) reader.push(event);
    const whole = messages.readAnswer({
      content: [
        { type: 'text', text: 'I look' },
        { type: 'tool_use', name: 'ls', input: { p: 1 } },
        { type: 'tool_use', name: 'pwd', input: {} },
      ],
    });
    expect(reader.facts()).toMatchObject({ message: whole.message });
  });

  it('reads events without a name by their type, and sees an error', () => {
    const reader = open(messages);
    expect(reader.push(data({ type: 'error', error: { type: 'overloaded_error' } }))).toBe('hide');
    expect(reader.failed).toBe(true);
    reader.push(data({ type: 'message_stop' }));
    expect(reader.complete).toBe(true);
  });
});

describe('responses streams', () => {
  const response = { id: 'resp_1', object: 'response', created_at: 5, model: 'm', output: [] };
  const item = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'hello' }] };
  const created = named({ type: 'response.created', sequence_number: 0, response });
  const itemDone = named({ type: 'response.output_item.done', sequence_number: 6, item });
  const completed = (output: unknown[]) => {
    const whole = { ...response, output, usage: { input_tokens: 4, output_tokens: 2 } };
    return named({ type: 'response.completed', sequence_number: 7, response: whole });
  };

  it('knows its id from the first event on', () => {
    const reader = open(responses);
    reader.push(created);
    expect(reader.facts().responseId).toBe('resp_1');
    expect(reader.complete).toBe(false);
  });

  it.each([
    ['in the last event', [item]],
    ['only item by item', []],
  ])('reads usage and an answer that stands %s', (_where, output) => {
    const reader = open(responses, {}, true);
    for (const event of [created, itemDone, completed(output)]) expect(reader.push(event)).toBe('forward');
    expect(reader.complete).toBe(true);
    const { message } = responses.readAnswer({ output: [item] });
    expect(reader.facts()).toMatchObject({ usage: { promptTokens: 4, outputTokens: 2 }, message });
  });

  it('reads events without a name', () => {
    const reader = open(responses);
    for (const event of [created, completed([])]) reader.push({ data: event.data });
    expect([reader.complete, reader.facts().responseId]).toEqual([true, 'resp_1']);
  });

  it('sees a failure', () => {
    const reader = open(responses);
    expect(reader.push(named({ type: 'response.failed', response: { ...response, error: { code: 'x' } } }))).toBe(
      'hide',
    );
    expect([reader.failed, reader.complete]).toEqual([true, false]);
  });

  it('fails under the id that the client was told, with the next number', () => {
    const reader = open(responses);
    for (const event of [created, itemDone]) reader.push(event);
    const told = (...args: Parameters<typeof responses.errorEvent>) =>
      JSON.parse(/^event: response.failed\ndata: (.*)$/m.exec(responses.errorEvent(...args))![1]!) as unknown;
    const failed = { id: 'resp_1', status: 'failed', model: 'm', error: { code: 'engine_failed' } };
    expect(told(new GatewayError('engine_failed', 'gone'), 'r1', reader)).toMatchObject({
      type: 'response.failed',
      sequence_number: 7,
      response: failed,
    });
    expect(told(new GatewayError('queue_timeout', 'late'), 'r1')).toMatchObject({ sequence_number: 0 });
  });
});
