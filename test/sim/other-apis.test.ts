import { describe, expect, it } from 'vitest';
import { call, dataOf, engine, post, stream, type Json } from './client.js';

const MESSAGES = [{ role: 'user', content: 'Say something, please.' }];

describe('/v1/completions', () => {
  it('answers texts and token ids, streaming and not', async () => {
    const sim = await engine();
    const one = await post(sim, '/v1/completions', { prompt: 'Once upon', max_tokens: 8 });
    expect(one.json).toMatchObject({ object: 'text_completion', choices: [{ text: expect.any(String) as string }] });
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
    const types = data.map((event) => String(event['type']).replace('response.', ''));
    const begins = ['created', 'in_progress', 'output_item.added', 'content_part.added'];
    const ends = ['output_text.done', 'content_part.done', 'output_item.done', 'completed'];
    expect([types.slice(0, 4), types.slice(-4)]).toEqual([begins, ends]);
    const deltas = data.filter((_, at) => types[at] === 'output_text.delta').map((event) => event['delta']);
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
    const long = { ...body, messages: [{ role: 'user', content: 'x'.repeat(6400) }] };
    for (const cached of [0, 1600])
      expect((await post(sim, '/v1/messages', long)).json['usage']).toMatchObject({ cache_read_input_tokens: cached });
  });

  it('streams blocks between message_start and message_stop', async () => {
    const sim = await engine();
    const events = await stream(sim, '/v1/messages', { max_tokens: 400, messages: MESSAGES });
    const data = dataOf(events);
    expect(events.map(({ event }) => event)).toEqual(data.map((event) => event['type']));
    const types = data.map((event) => event['type']).filter((type) => type !== 'content_block_delta');
    expect(types.join(' ')).toBe('message_start content_block_start content_block_stop message_delta message_stop');
    const usage = { output_tokens: expect.any(Number) as number };
    expect(data.at(-2)).toMatchObject({ delta: { stop_reason: 'end_turn' }, usage });
  });
});
