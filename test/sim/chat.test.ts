import { describe, expect, it } from 'vitest';
import { dataOf, engine, post, stream, type Json } from './client.js';

const MESSAGES = [{ role: 'user', content: 'Say something, please.' }];

const contentOf = (delta: Json): string => (delta['content'] ?? '') as string;
const deltasOf = (events: Awaited<ReturnType<typeof stream>>): Json[] =>
  dataOf(events).map((chunk) => (chunk['choices'] as { delta: Json }[])[0]?.delta ?? {});

describe('/v1/chat/completions', () => {
  const path = '/v1/chat/completions';

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
    expect(deltas.map(contentOf).join('')).toBe(choice?.message['content']);
  });

  it('puts the finish reason on the last token’s chunk, behind it usage and times if asked, and the fingerprint last', async () => {
    const sim = await engine();
    const ask = { messages: MESSAGES, max_tokens: 5, ignore_eos: true };
    for (const to of [path, '/v1/completions']) {
      const plain = dataOf(await stream(sim, to, { ...ask, prompt: 'Hello' }));
      const [choice] = plain.at(-1)?.['choices'] as Json[];
      expect(choice).toMatchObject({ finish_reason: 'length', stop_reason: null });
      expect(contentOf((choice?.['delta'] ?? { content: choice?.['text'] }) as Json)).not.toBe('');
      const options = { stream_options: { include_usage: true } };
      const counted = dataOf(await stream(sim, to, { ...ask, prompt: 'Hello', ...options }));
      expect(counted.at(-1)).toMatchObject({
        choices: [],
        usage: { prompt_tokens_details: { cached_tokens: 0 } },
        metrics: { queue_time_ms: expect.any(Number) as number, generation_time_ms: expect.any(Number) as number },
      });
      for (const chunks of [plain, counted])
        expect(chunks.map((chunk) => 'system_fingerprint' in chunk)).toEqual(
          chunks.map((_, at) => at === chunks.length - 1),
        );
    }
  });

  it('gives n different answers, streaming and not, of one prompt', async () => {
    const sim = await engine();
    const body = { messages: MESSAGES, n: 3, max_tokens: 20, ignore_eos: true };
    const { json } = await post(sim, path, body);
    const texts = (json['choices'] as { message: { content: string } }[]).map(({ message }) => message.content);
    expect(new Set(texts).size).toBe(3);
    expect(json['usage']).toMatchObject({
      completion_tokens: 60,
      total_tokens: 60 + (json['usage'] as { prompt_tokens: number }).prompt_tokens,
    });
    const streamed = ['', '', ''];
    for (const chunk of dataOf(await stream(sim, path, body))) {
      const [choice] = chunk['choices'] as { index: number; delta: Json }[];
      if (choice !== undefined) streamed[choice.index] = (streamed[choice.index] ?? '') + contentOf(choice.delta);
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

  it('gives a scripted answer word for word, whole and as events', async () => {
    const content = 'Grüße,\n```bash\nls -la\n```\n  trailing  ';
    const call = { id: 'call_mine', name: 'run', arguments: '{"a":  1}' };
    const sim = await engine({ script: () => ({ content, tool_calls: [call] }) });
    const whole = await post(sim, path, { messages: MESSAGES });
    expect(whole.json['choices']).toMatchObject([{ finish_reason: 'tool_calls', message: { content } }]);
    const events = await stream(sim, path, { messages: MESSAGES });
    const deltas = deltasOf(events);
    expect(deltas.map(contentOf).join('')).toBe(content);
    const parts = deltas.flatMap(
      (delta) => (delta['tool_calls'] ?? []) as { id?: string; function: { arguments: string } }[],
    );
    expect(parts[0]?.id).toBe('call_mine');
    expect(parts.map((part) => part.function.arguments).join('')).toBe(call.arguments);
  });

  it('never splits a character between two events', async () => {
    const content = '日本語 🎉🎉 naïve — ✓'.repeat(5);
    const sim = await engine({ script: () => ({ content }) });
    // With a fault, each token is an event of its own.
    const events = await stream(sim, path, { messages: MESSAGES }, { 'x-sim-fault': 'slow=0' });
    const texts = deltasOf(events).map(contentOf);
    expect(texts.length).toBeGreaterThan(30);
    expect(texts.join('')).toBe(content);
    expect(texts.some((text) => text.includes('\ufffd'))).toBe(false);
  });

  it.each([3, 300])('spends the %i tokens that a script asks for, whatever its text', async (tokens) => {
    const content = 'A text of some forty tokens. '.repeat(6);
    const sim = await engine({ script: () => ({ content, output_tokens: tokens }) });
    const { json } = await post(sim, path, { messages: MESSAGES });
    expect(json['choices']).toMatchObject([{ finish_reason: 'stop', message: { content } }]);
    expect(json['usage']).toMatchObject({ completion_tokens: tokens });
    const events = await stream(sim, path, { messages: MESSAGES }, { 'x-sim-fault': 'slow=0' });
    expect(deltasOf(events).map(contentOf).join('')).toBe(content);
  });

  it('cuts a scripted answer at max_tokens, and spreads it under ignore_eos', async () => {
    const sim = await engine({ script: () => ({ content: 'x'.repeat(100) }) });
    const ask = { messages: MESSAGES };
    const cut = await post(sim, path, { ...ask, max_tokens: 10 });
    expect(cut.json['choices']).toMatchObject([{ finish_reason: 'length', message: { content: 'x'.repeat(40) } }]);
    const spread = await post(sim, path, { ...ask, max_tokens: 200, ignore_eos: true });
    expect(spread.json['choices']).toMatchObject([{ message: { content: 'x'.repeat(100) } }]);
    expect(spread.json['usage']).toMatchObject({ completion_tokens: 200 });
  });
});
