import { describe, expect, it } from 'vitest';
import { PRESET_NAMES, startEngine } from '../../sim/index.js';
import { call, dataOf, engine, post, stream, type Json } from './client.js';

const MESSAGES = [{ role: 'user', content: 'Say something, please.' }];

describe('/v1/chat/completions', () => {
  const path = '/v1/chat/completions';

  it('answers whole, with usage', async () => {
    const sim = await engine();
    const { status, json } = await post(sim, path, { model: 'llama-3.1-8b', messages: MESSAGES });
    expect(status).toBe(200);
    expect(json).toMatchObject({
      object: 'chat.completion',
      model: 'llama-3.1-8b',
      choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: expect.any(String) } }],
    });
    const usage = json['usage'] as Record<string, number>;
    expect(usage['total_tokens']).toBe((usage['prompt_tokens'] ?? 0) + (usage['completion_tokens'] ?? 0));
  });

  it('streams role, text, one finish reason and [DONE], and the same text as a whole answer', async () => {
    const sim = await engine();
    const whole = await post(sim, path, { messages: MESSAGES });
    const events = await stream(sim, path, { messages: MESSAGES });
    expect(events.at(-1)?.data).toBe('[DONE]');
    const chunks = dataOf(events);
    const choices = chunks.map((chunk) => (chunk['choices'] as Json[])[0] ?? {});
    const deltas = choices.map((choice) => choice['delta'] as Json);
    expect(deltas[0]).toEqual({ role: 'assistant', content: '' });
    expect(new Set(chunks.map((chunk) => chunk['id'])).size).toBe(1);
    expect(choices.map((choice) => choice['finish_reason']).filter((reason) => reason !== null)).toEqual(['stop']);
    expect(choices.at(-1)?.['finish_reason']).toBe('stop');
    expect(chunks.every((chunk) => !('usage' in chunk))).toBe(true);
    const [choice] = whole.json['choices'] as { message: Json }[];
    expect(deltas.map((delta) => delta['content'] ?? '').join('')).toBe(choice?.message['content']);
  });

  it('streams a usage chunk, and metrics, only when asked', async () => {
    const sim = await engine();
    const body = { messages: MESSAGES, stream_options: { include_usage: true }, include_metrics: true };
    const events = await stream(sim, path, body);
    const last = dataOf(events).at(-1);
    expect(last?.['choices']).toEqual([]);
    expect(last?.['usage']).toMatchObject({ prompt_tokens_details: { cached_tokens: 0 } });
    expect(last?.['metrics']).toMatchObject({
      queue_time_ms: expect.any(Number),
      generation_time_ms: expect.any(Number),
    });
  });

  it.each([1, 2, 100, 1000])('gives exactly max_tokens = %i with ignore_eos', async (tokens) => {
    const sim = await engine();
    const body = { messages: MESSAGES, max_completion_tokens: tokens, ignore_eos: true };
    const { json } = await post(sim, path, body);
    expect(json['usage']).toMatchObject({ completion_tokens: tokens });
    const [choice] = json['choices'] as { message: { content: string }; finish_reason: string }[];
    expect(choice?.finish_reason).toBe('length');
    const count = await post(sim, '/tokenize', { prompt: choice?.message.content });
    expect(count.json['count']).toBe(tokens);
  });

  it('gives n different answers, streaming and not, of one prompt', async () => {
    const sim = await engine();
    const body = { messages: MESSAGES, n: 3, max_tokens: 20, ignore_eos: true };
    const { json } = await post(sim, path, body);
    const texts = (json['choices'] as { message: { content: string } }[]).map(({ message }) => message.content);
    expect(new Set(texts).size).toBe(3);
    expect(json['usage']).toMatchObject({ completion_tokens: 60 });
    const streamed = ['', '', ''];
    for (const chunk of dataOf(await stream(sim, path, body))) {
      const [choice] = chunk['choices'] as { index: number; delta: Json }[];
      if (choice !== undefined) streamed[choice.index] += String(choice.delta['content'] ?? '');
    }
    expect(streamed).toEqual(texts);
  });

  it('gives JSON where a schema is asked for', async () => {
    const sim = await engine();
    const schema = { type: 'object', required: ['n'], properties: { n: { type: 'integer', minimum: 5 } } };
    const body = { messages: MESSAGES, response_format: { type: 'json_schema', json_schema: { name: 'x', schema } } };
    const { json } = await post(sim, path, body);
    const [choice] = json['choices'] as { message: { content: string } }[];
    expect(JSON.parse(choice?.message.content ?? '')).toEqual({ n: 5 });
  });

  it('gives a scripted answer word for word, from the body and from the header', async () => {
    const sim = await engine();
    const content = 'Grüße,\n```bash\nls -la\n```\n  trailing  ';
    const inBody = await post(sim, path, { messages: MESSAGES, sim: { content } });
    expect(inBody.json['choices']).toMatchObject([{ finish_reason: 'stop', message: { content } }]);
    const call = { id: 'call_mine', name: 'run', arguments: '{"a":  1}' };
    const header = Buffer.from(JSON.stringify({ content, tool_calls: [call] })).toString('base64');
    const events = await stream(sim, path, { messages: MESSAGES }, { 'x-sim-reply': header });
    const deltas = dataOf(events).map((chunk) => (chunk['choices'] as { delta: Json }[])[0]?.delta ?? {});
    expect(deltas.map((delta) => delta['content'] ?? '').join('')).toBe(content);
    const parts = deltas.flatMap(
      (delta) => (delta['tool_calls'] ?? []) as { id?: string; function: { arguments: string } }[],
    );
    expect(parts[0]?.id).toBe('call_mine');
    expect(parts.map((part) => part.function.arguments).join('')).toBe(call.arguments);
  });

  it('spends the tokens that a script asks for, whatever its text', async () => {
    const sim = await engine();
    const { json } = await post(sim, path, { messages: MESSAGES, sim: { content: 'Short.', output_tokens: 300 } });
    expect(json['choices']).toMatchObject([{ finish_reason: 'stop', message: { content: 'Short.' } }]);
    expect(json['usage']).toMatchObject({ completion_tokens: 300 });
  });

  it('asks the script option, and answers itself where that has nothing', async () => {
    const sim = await engine({ script: (messages) => (messages.length === 1 ? { content: 'first' } : undefined) });
    const first = await post(sim, path, { messages: MESSAGES });
    expect(first.json['choices']).toMatchObject([{ message: { content: 'first' } }]);
    const second = await post(sim, path, { messages: [...MESSAGES, ...MESSAGES] });
    expect(second.json['choices']).not.toMatchObject([{ message: { content: 'first' } }]);
  });

  it('goes on with a final message where it was cut', async () => {
    const sim = await engine();
    const ask = { messages: MESSAGES, ignore_eos: true };
    const content = async (body: Json): Promise<string> => {
      const { json } = await post(sim, path, body);
      return (json['choices'] as { message: { content: string } }[])[0]?.message.content ?? '';
    };
    const whole = await content({ ...ask, max_tokens: 40 });
    const begun = whole.slice(0, 60);
    const rest = await content({
      messages: [...MESSAGES, { role: 'assistant', content: begun }],
      ignore_eos: true,
      continue_final_message: true,
      add_generation_prompt: false,
      max_tokens: 25,
    });
    expect(begun + rest).toBe(whole);
  });

  it('gives token ids when asked, and takes them as a prompt', async () => {
    const sim = await engine();
    const { json } = await post(sim, path, { messages: MESSAGES, return_token_ids: true, max_tokens: 5 });
    const ids = json['prompt_token_ids'] as number[];
    const [choice] = json['choices'] as { token_ids: number[]; message: { content: string } }[];
    expect(choice?.token_ids).toHaveLength(5);
    const text = await post(sim, '/detokenize', { tokens: choice?.token_ids });
    expect(text.json['prompt']).toBe(choice?.message.content);
    const resumed = await post(sim, '/v1/completions', {
      prompt: [...ids, ...(choice?.token_ids ?? [])],
      max_tokens: 2,
    });
    expect(resumed.json['usage']).toMatchObject({ prompt_tokens: ids.length + 5, completion_tokens: 2 });
  });
});

describe('/v1/completions', () => {
  it('answers texts and token ids, streaming and not', async () => {
    const sim = await engine();
    const one = await post(sim, '/v1/completions', { prompt: 'Once upon', max_tokens: 8, echo: true });
    expect(one.json).toMatchObject({
      object: 'text_completion',
      choices: [{ text: expect.stringMatching(/^Once upon/) }],
    });
    const many = await post(sim, '/v1/completions', { prompt: ['a', 'b', [1, 2, 3]], n: 2 });
    expect((many.json['choices'] as Json[]).map((choice) => choice['index'])).toEqual([0, 1, 2, 3, 4, 5]);
    expect(many.json['usage']).toMatchObject({ prompt_tokens: 5 });
    const events = await stream(sim, '/v1/completions', { prompt: 'Once upon', max_tokens: 8, ignore_eos: true });
    expect(events.at(-1)?.data).toBe('[DONE]');
    const choices = dataOf(events).map((chunk) => (chunk['choices'] as Json[])[0] ?? {});
    expect(choices.map((choice) => choice['text']).join('')).toHaveLength(32);
    expect(choices.at(-1)?.['finish_reason']).toBe('length');
  });
});

describe('/v1/responses', () => {
  it('streams typed, numbered events that add up to the whole response', async () => {
    const sim = await engine();
    const events = await stream(sim, '/v1/responses', { input: 'Hello', max_output_tokens: 500 });
    const data = dataOf(events);
    expect(data.map((event) => event['sequence_number'])).toEqual(data.map((_, index) => index));
    expect(events.map(({ event }) => event)).toEqual(data.map((event) => event['type']));
    const types = data.map((event) => event['type']);
    expect(types.slice(0, 4)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
    ]);
    expect(types.slice(-4)).toEqual([
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ]);
    const deltas = data
      .filter((event) => event['type'] === 'response.output_text.delta')
      .map((event) => event['delta']);
    const response = data.at(-1)?.['response'] as { id: string; output: { content: { text: string }[] }[] };
    expect(deltas.join('')).toBe(response.output[0]?.content[0]?.text);
    const stored = await call(sim, 'GET', `/v1/responses/${response.id}`);
    expect(stored.json).toEqual(response);
  });

  it('continues from an earlier response, from the cache', async () => {
    const sim = await engine();
    const first = await post(sim, '/v1/responses', { input: 'word '.repeat(200), max_output_tokens: 64 });
    const next = await post(sim, '/v1/responses', { input: 'And then?', previous_response_id: first.json['id'] });
    const [before, after] = [first, next].map(({ json }) => json['usage'] as Record<string, number & Json>);
    expect(after?.['input_tokens']).toBeGreaterThan((before?.['input_tokens'] ?? 0) + 60);
    expect(after?.['input_tokens_details']?.['cached_tokens']).toBeGreaterThan(250);
    const unknown = await post(sim, '/v1/responses', { input: 'x', previous_response_id: 'resp_none' });
    expect(unknown.status).toBe(404);
  });

  it('runs in the background, is polled, cancelled and deleted', async () => {
    const sim = await engine({ speed: 1 });
    const body = { input: 'Hello', max_output_tokens: 5000, ignore_eos: true, background: true };
    const begun = await post(sim, '/v1/responses', body);
    const path = `/v1/responses/${String(begun.json['id'])}`;
    expect(begun.json['status']).toBe('in_progress');
    expect(sim.stats()).toMatchObject({ running: 1, aborted: 0 });
    const cancelled = await post(sim, `${path}/cancel`, {});
    expect(cancelled.json['status']).toBe('cancelled');
    expect(sim.stats()).toMatchObject({ running: 0, aborted: 1 });
    expect((await post(sim, `${path}/cancel`, {})).status).toBe(400);
    expect((await call(sim, 'DELETE', path)).json).toMatchObject({ deleted: true });
    expect((await call(sim, 'GET', path)).status).toBe(404);
  });

  it('says when it was cut short', async () => {
    const sim = await engine();
    const { json } = await post(sim, '/v1/responses', { input: 'Hello', max_output_tokens: 3 });
    expect(json).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } });
  });
});

describe('/v1/messages', () => {
  it('answers whole and counts tokens as it charges them', async () => {
    const sim = await engine();
    const body = { max_tokens: 400, system: [{ type: 'text', text: 'Be brief.' }], messages: MESSAGES };
    const { json } = await post(sim, '/v1/messages', body);
    expect(json).toMatchObject({
      type: 'message',
      role: 'assistant',
      stop_reason: 'end_turn',
      content: [{ type: 'text' }],
    });
    const counted = await post(sim, '/v1/messages/count_tokens', body);
    expect(json['usage']).toMatchObject({ input_tokens: counted.json['input_tokens'] });
    const again = await post(sim, '/v1/messages', { ...body, messages: [{ role: 'user', content: 'x'.repeat(6400) }] });
    const third = await post(sim, '/v1/messages', { ...body, messages: [{ role: 'user', content: 'x'.repeat(6400) }] });
    expect(again.json['usage']).toMatchObject({ cache_read_input_tokens: 0 });
    expect(third.json['usage']).toMatchObject({ cache_read_input_tokens: 1600 });
  });

  it('streams blocks between message_start and message_stop', async () => {
    const sim = await engine();
    const events = await stream(sim, '/v1/messages', { max_tokens: 400, messages: MESSAGES });
    const data = dataOf(events);
    expect(events.map(({ event }) => event)).toEqual(data.map((event) => event['type']));
    const types = data.map((event) => event['type']).filter((type) => type !== 'content_block_delta');
    expect(types).toEqual([
      'message_start',
      'content_block_start',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
    expect(data.at(-2)).toMatchObject({
      delta: { stop_reason: 'end_turn' },
      usage: { output_tokens: expect.any(Number) },
    });
  });
});

describe('other paths', () => {
  it('embeds texts and token ids, alike each time, as numbers or base64', async () => {
    const sim = await engine({ embeddingSize: 8 });
    const numbers = await post(sim, '/v1/embeddings', { input: ['one', 'two'] });
    const packed = await post(sim, '/v1/embeddings', { input: 'one', encoding_format: 'base64' });
    const [one, two] = (numbers.json['data'] as { embedding: number[] }[]).map(({ embedding }) => embedding);
    const bytes = Buffer.from(String((packed.json['data'] as Json[])[0]?.['embedding']), 'base64');
    expect(Array.from({ length: 8 }, (_, index) => bytes.readFloatLE(4 * index))).toEqual(one);
    expect(one).not.toEqual(two);
    expect(Math.hypot(...(one ?? []))).toBeCloseTo(1, 5);
  });

  it('turns text into tokens and back', async () => {
    const sim = await engine();
    const prompt = 'Tokens: 日本語, émojis 🎉, and\ttabs';
    const { json } = await post(sim, '/tokenize', { prompt });
    expect((await post(sim, '/detokenize', { tokens: json['tokens'] })).json['prompt']).toBe(prompt);
    const chat = await post(sim, '/tokenize', { messages: MESSAGES });
    const answer = await post(sim, '/v1/chat/completions', { messages: MESSAGES });
    expect(answer.json['usage']).toMatchObject({ prompt_tokens: chat.json['count'] });
  });

  it('tells its models, version, load and health', async () => {
    const sim = await engine({ models: ['one', 'two'], maxModelLen: 4096 });
    const models = await call(sim, 'GET', '/v1/models');
    expect(models.json['data']).toMatchObject([
      { id: 'one', max_model_len: 4096 },
      { id: 'two', max_model_len: 4096 },
    ]);
    expect((await call(sim, 'GET', '/version')).json).toEqual({ version: expect.any(String) });
    expect((await call(sim, 'GET', '/load')).json).toEqual({ server_load: 0 });
    expect((await call(sim, 'GET', '/health')).status).toBe(200);
    expect((await post(sim, '/v1/chat/completions', { model: 'two', messages: MESSAGES })).json['model']).toBe('two');
  });

  it('has vLLM’s metrics', async () => {
    const sim = await engine({ kvTokens: 1600, maxModelLen: 1000 });
    await post(sim, '/v1/chat/completions', { messages: MESSAGES, max_tokens: 7, ignore_eos: true });
    const { text } = await call(sim, 'GET', '/metrics');
    const labels = '{engine="0",model_name="llama-3.1-8b"}';
    for (const line of [
      `vllm:num_requests_running${labels} 0`,
      `vllm:num_requests_waiting${labels} 0`,
      `vllm:kv_cache_usage_perc${labels} 0`,
      `vllm:prefix_cache_queries_total${labels} 9`,
      `vllm:prefix_cache_hits_total${labels} 0`,
      `vllm:num_preemptions_total${labels} 0`,
      `vllm:prompt_tokens_total${labels} 9`,
      `vllm:generation_tokens_total${labels} 7`,
      `vllm:request_queue_time_seconds_count${labels} 1`,
    ]) {
      expect(text).toContain(line);
    }
    expect(text).toMatch(/vllm:cache_config_info\{.*block_size="16".*num_gpu_blocks="101".*\} 1/);
  });
});

describe('bad requests', () => {
  const bad: [string, string, unknown, number][] = [
    ['no JSON', '/v1/chat/completions', '{', 400],
    ['a list', '/v1/chat/completions', [], 400],
    ['no messages', '/v1/chat/completions', {}, 400],
    ['empty messages', '/v1/chat/completions', { messages: [] }, 400],
    ['a bad role', '/v1/chat/completions', { messages: [{ role: 'robot', content: '' }] }, 400],
    ['bad content', '/v1/chat/completions', { messages: [{ role: 'user', content: 5 }] }, 400],
    ['a bad number', '/v1/chat/completions', { messages: MESSAGES, max_tokens: 0 }, 400],
    ['a bad temperature', '/v1/chat/completions', { messages: MESSAGES, temperature: 'hot' }, 400],
    ['a bad tool choice', '/v1/chat/completions', { messages: MESSAGES, tool_choice: 'required' }, 400],
    ['too long an answer', '/v1/chat/completions', { messages: MESSAGES, max_tokens: 200_000 }, 400],
    ['too long a prompt', '/v1/chat/completions', { messages: [{ role: 'user', content: 'x'.repeat(600_000) }] }, 400],
    ['an unknown model', '/v1/chat/completions', { model: 'gpt', messages: MESSAGES }, 404],
    ['an unknown model', '/v1/messages', { model: 'gpt', max_tokens: 5, messages: MESSAGES }, 404],
    ['no max_tokens', '/v1/messages', { messages: MESSAGES }, 400],
    ['a bad prompt', '/v1/completions', { prompt: [1, 'a'] }, 400],
    ['an empty prompt', '/v1/completions', { prompt: '' }, 400],
    ['no input', '/v1/responses', {}, 400],
    ['a bad fault', '/sim/faults', { fault: 'explode' }, 400],
    ['an unknown path', '/v1/nothing', {}, 404],
    ['a wrong method', '/health', {}, 405],
  ];

  it.each(bad)('%s to %s is refused in the shape of its API', async (_, path, body, status) => {
    const sim = await engine();
    const answer = await post(sim, path, body);
    expect(answer.status).toBe(status);
    const error = answer.json['error'] as Json;
    if (path.startsWith('/v1/messages')) expect(answer.json['type']).toBe('error');
    else expect(error['code']).toBe(status);
    expect(error['message']).toEqual(expect.any(String));
  });

  it('too large a body is 413, a missing key 401, a full queue 503', async () => {
    const sim = await engine({ bodyBytesMax: 1000, apiKey: 'secret', slots: 1, maxQueued: 1, speed: 1 });
    const auth = { authorization: 'Bearer secret' };
    const path = '/v1/chat/completions';
    expect((await post(sim, path, { messages: [{ role: 'user', content: 'x'.repeat(2000) }] }, auth)).status).toBe(413);
    expect((await post(sim, path, { messages: MESSAGES })).status).toBe(401);
    const body = { input: 'x', max_output_tokens: 1000, ignore_eos: true, background: true };
    expect((await post(sim, '/v1/responses', body, auth)).status).toBe(200);
    expect((await post(sim, '/v1/responses', body, auth)).status).toBe(200);
    expect((await post(sim, path, { messages: MESSAGES }, auth)).status).toBe(503);
  });
});

describe('options', () => {
  it.each([
    { speed: 0 },
    { speed: NaN },
    { port: 70_000 },
    { slots: 0 },
    { kvTokens: 10 },
    { kvTokens: 1000, maxModelLen: 2000 },
    { preset: 'no-such' },
    { models: [] },
    { unknown: 1 },
    { script: 'x' },
  ])('%j are refused', async (options) => {
    await expect(startEngine(options as never)).rejects.toThrow(TypeError);
  });

  it('a fault that is none is refused', async () => {
    await expect(startEngine({ faults: ['explode'] })).rejects.toThrow();
  });

  it('a port in use is refused', async () => {
    const sim = await engine();
    await expect(startEngine({ port: Number(new URL(sim.url).port) })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });

  it.each(PRESET_NAMES)('preset %s answers', async (preset) => {
    const sim = await engine({ preset });
    expect((await post(sim, '/v1/chat/completions', { messages: MESSAGES })).status).toBe(200);
  });

  it('the same seed gives the same answers, another seed others', async () => {
    const texts = await Promise.all(
      [1, 1, 2].map(async (seed) => {
        const { json } = await post(await engine({ seed }), '/v1/completions', { prompt: 'Hello', max_tokens: 30 });
        return (json['choices'] as Json[])[0]?.['text'];
      }),
    );
    expect(texts[0]).toBe(texts[1]);
    expect(texts[0]).not.toBe(texts[2]);
  });
});
