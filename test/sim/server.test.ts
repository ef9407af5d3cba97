import { describe, expect, it } from 'vitest';
import { startEngine } from '../../sim/index.js';
import { call, engine, post, type Json } from './client.js';

const MESSAGES = [{ role: 'user', content: 'Say something, please.' }];

describe('other paths', () => {
  it('embeds texts and token ids, alike each time, as numbers or base64', async () => {
    const sim = await engine();
    const numbers = await post(sim, '/v1/embeddings', { input: ['one', 'two'] });
    const packed = await post(sim, '/v1/embeddings', { input: 'one', encoding_format: 'base64' });
    const [one, two] = (numbers.json['data'] as { embedding: number[] }[]).map(({ embedding }) => embedding);
    const bytes = Buffer.from(String((packed.json['data'] as Json[])[0]?.['embedding']), 'base64');
    expect(Array.from({ length: 256 }, (_, index) => bytes.readFloatLE(4 * index))).toEqual(one);
    expect(one).not.toEqual(two);
    expect(Math.hypot(...(one ?? []))).toBeCloseTo(1, 5);
  });

  it('tells its models, version and health', async () => {
    const sim = await engine({ models: ['one', 'two'], maxModelLen: 4096 });
    const models = await call(sim, 'GET', '/v1/models');
    expect(models.json['data']).toMatchObject(['one', 'two'].map((id) => ({ id, max_model_len: 4096 })));
    expect((await call(sim, 'GET', '/version')).json).toEqual({ version: expect.any(String) as string });
    expect((await call(sim, 'GET', '/health')).status).toBe(200);
    expect((await post(sim, '/v1/chat/completions', { model: 'two', messages: MESSAGES })).json['model']).toBe('two');
  });

  it('has vLLM’s metrics', async () => {
    const sim = await engine({ kvTokens: 1600, maxModelLen: 1000 });
    await post(sim, '/v1/chat/completions', { messages: MESSAGES, max_tokens: 7, ignore_eos: true });
    const { text } = await call(sim, 'GET', '/metrics');
    const labels = '{engine="0",model_name="llama-3.1-8b"}';
    const idle = ['num_requests_running', 'num_requests_waiting', 'kv_cache_usage_perc', 'num_preemptions_total'];
    const counted = { prefix_cache_queries_total: 9, prompt_tokens_total: 9, prefix_cache_hits_total: 0 };
    const zero = Object.fromEntries(idle.map((name) => [name, 0]));
    const all = { ...zero, ...counted, generation_tokens_total: 7 };
    for (const [name, value] of Object.entries(all)) expect(text).toContain(`vllm:${name}${labels} ${value}`);
    expect(text).toMatch(/vllm:cache_config_info\{.*block_size="16".*num_gpu_blocks="101".*\} 1/);
  });
});

describe('bad requests', () => {
  const path = '/v1/chat/completions';
  const bad: [string, string, unknown, number][] = [
    ['empty messages', path, { messages: [] }, 400],
    ['a bad role', path, { messages: [{ role: 'robot', content: '' }] }, 400],
    ['a bad temperature', path, { messages: MESSAGES, temperature: 3 }, 400],
    ['a tool choice without tools', path, { messages: MESSAGES, tool_choice: 'auto' }, 400],
    ['too long an answer', path, { messages: MESSAGES, max_tokens: 200_000 }, 400],
    ['too long a prompt', path, { messages: [{ role: 'user', content: 'x'.repeat(600_000) }] }, 400],
    ['an unknown model', path, { model: 'gpt', messages: MESSAGES }, 404],
    ['an unknown model', '/v1/messages', { model: 'gpt', max_tokens: 5, messages: MESSAGES }, 404],
    ['no messages', '/v1/messages', { max_tokens: 5, messages: [] }, 400],
    ['an empty prompt', '/v1/completions', { prompt: '' }, 400],
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

  it.each([
    ['no JSON', path, '{', 'body'],
    ['a list', path, [], 'body'],
    ['no messages', path, {}, 'body.messages'],
    ['a word for a number', path, { messages: MESSAGES, temperature: 'hot' }, 'body.temperature'],
    ['no max_tokens', '/v1/messages', { messages: MESSAGES }, 'body.max_tokens'],
    ['a bad prompt', '/v1/completions', { prompt: [1, 'a'] }, 'body.prompt'],
    ['no input', '/v1/responses', {}, 'body.input'],
  ])('%s to %s does not validate, which all APIs say alike', async (_, to, body, param) => {
    const { status, json } = await post(await engine(), to, body);
    expect(status).toBe(400);
    expect(json).toEqual({ error: { message: expect.any(String) as string, type: 'Bad Request', param, code: 400 } });
  });

  it('what is not served is told before any API has a say', async () => {
    const sim = await engine({ apiKey: 'secret' });
    const auth = { authorization: 'Bearer secret' };
    const unknown = await post(sim, '/v1/messages/nothing', {}, auth);
    expect([unknown.status, unknown.json]).toEqual([404, { detail: 'Not Found' }]);
    const wrong = await call(sim, 'GET', path, undefined, auth);
    expect([wrong.status, wrong.json['detail'], wrong.headers.get('allow')]).toEqual([
      405,
      'Method Not Allowed',
      'POST',
    ]);
    expect((await post(sim, path, { messages: MESSAGES })).json).toEqual({ error: 'Unauthorized' });
  });

  it('too large a body is 413, a missing key 401, a full queue 503', async () => {
    const sim = await engine({ apiKey: 'secret', slots: 1, maxQueued: 1, speed: 1 });
    const auth = { authorization: 'Bearer secret' };
    const status = async (body: object, at = path, headers: Record<string, string> = auth) =>
      (await post(sim, at, body, headers)).status;
    expect(await status({ messages: [{ role: 'user', content: 'x'.repeat(2 ** 26) }] })).toBe(413);
    expect(await status({ messages: MESSAGES }, path, {})).toBe(401);
    const long = { input: 'x', max_output_tokens: 1000, ignore_eos: true, background: true };
    for (let call = 0; call < 2; call += 1) expect(await status(long, '/v1/responses')).toBe(200);
    expect(await status({ messages: MESSAGES })).toBe(503);
  });
});

describe('options', () => {
  const numbers = [{ speed: 0 }, { port: 70_000 }, { kvTokens: 10 }, { kvTokens: 1000, maxModelLen: 2000 }];
  const names = [{ preset: 'no-such' }, { models: [] }, { unknown: 1 }, { faults: ['explode'] }];
  it.each([...numbers, ...names])('%j are refused', async (options) => {
    await expect(startEngine(options as never)).rejects.toThrow(TypeError);
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
