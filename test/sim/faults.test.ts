import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { call, engine, eventsOf, post, rawPost } from './client.js';
import { PRESETS } from '../../sim/index.js';

const PATH = '/v1/chat/completions';
const BODY = { messages: [{ role: 'user', content: 'Hello' }], max_tokens: 20, ignore_eos: true };
const STREAM = { ...BODY, stream: true };

const fault = (text: string) => ({ 'x-sim-fault': text });

describe('a fault asked for by header', () => {
  it('status answers with the error shape and Retry-After', async () => {
    const sim = await engine();
    const answer = await post(sim, PATH, BODY, fault('status=503;retry-after=2'));
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBe('2');
    expect(answer.json).toMatchObject({ error: { code: 503 } });
    const anthropic = await post(sim, '/v1/messages', BODY, fault('status=529'));
    expect(anthropic.json).toMatchObject({ type: 'error', error: { type: 'APIError' } });
    expect(sim.stats()).toMatchObject({ requests: 2, finished: 0 });
  });

  it('reset-after lets so many events out, or bytes of a whole answer', async () => {
    const sim = await engine();
    const streamed = await rawPost(sim, PATH, STREAM, fault('reset-after=5'));
    expect(streamed).toMatchObject({ status: 200, error: 'ECONNRESET' });
    expect(eventsOf(streamed.body.toString())).toHaveLength(5);
    const whole = await rawPost(sim, PATH, BODY, fault('reset-after=40'));
    expect(whole).toMatchObject({ status: 200, error: 'ECONNRESET' });
    expect(whole.body).toHaveLength(40);
  });

  it('hang-after lets so many bytes of a whole answer out, or events, and then nothing', async () => {
    const sim = await engine();
    const heard = async (body: object, after: number, enough: (text: string) => boolean) => {
      const left = new AbortController();
      const headers = { 'content-type': 'application/json', ...fault(`hang-after=${after}`) };
      const answer = await fetch(sim.url + PATH, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
        signal: left.signal,
      });
      let text = '';
      for await (const chunk of answer.body!) {
        text += Buffer.from(chunk).toString();
        if (enough(text)) break;
      }
      left.abort();
      return text;
    };
    expect(await heard(BODY, 40, ({ length }) => length >= 40)).toHaveLength(40);
    expect(eventsOf(await heard(STREAM, 1, (text) => text.endsWith('\n\n')))).toHaveLength(1);
  });

  it('half ends cleanly, but without the end', async () => {
    const sim = await engine();
    const early = await rawPost(sim, PATH, STREAM, fault('half=3'));
    expect(early.error).toBeUndefined();
    expect(eventsOf(early.body.toString())).toHaveLength(3);
    const whole = await rawPost(sim, PATH, BODY, fault('half'));
    expect(whole).toMatchObject({ status: 200, headers: { 'transfer-encoding': 'chunked' } });
    expect(() => JSON.parse(whole.body.toString()) as unknown).toThrow();
  });

  it('long-length lies about the body', async () => {
    const long = await rawPost(await engine(), PATH, BODY, fault('long-length'));
    expect(long.status).toBe(200);
    expect(() => JSON.parse(long.body.toString()) as unknown).toThrow();
  });

  it('gzip compresses, whatever was accepted', async () => {
    const sim = await engine();
    for (const body of [BODY, STREAM]) {
      const packed = await rawPost(sim, PATH, body, { ...fault('gzip'), 'accept-encoding': 'identity' });
      expect(packed.headers).toMatchObject({ 'content-encoding': 'gzip' });
      expect(gunzipSync(packed.body).toString()).toMatch(/"finish_reason":"length"/);
    }
  });

  it('load-fails computes what the host tier has', async () => {
    const preset = { ...PRESETS['tiny-cpu'], hostBytesPerSecond: 1e9 };
    const sim = await engine({ preset, kvTokens: 640, hostTokens: 6400 });
    const cached = async (word: string, headers = {}) => {
      const body = { prompt: `${word} `.repeat(500), max_tokens: 5 };
      const { usage } = (await post(sim, '/v1/completions', body, headers)).json as {
        usage: { prompt_tokens_details: { cached_tokens: number } };
      };
      return usage.prompt_tokens_details.cached_tokens;
    };
    for (const word of ['one', 'two', 'six']) expect(await cached(word)).toBe(0);
    expect(await cached('one', fault('load-fails'))).toBe(0);
    expect(await cached('two')).toBeGreaterThan(400);
    const metrics = (await call(sim, 'GET', '/metrics')).text;
    expect(metrics).toMatch(/vllm:external_prefix_cache_hits_total\{.*\} 4\d\d/);
    expect(metrics).toMatch(/vllm:external_prefix_cache_queries_total\{.*\} \d{4}/);
    expect(metrics).toMatch(/vllm:kv_offload_load_bytes_total\{.*\} [1-9]/);
    expect(metrics).toMatch(/vllm:cache_config_info\{.*kv_offloading_size="0.0\d+"/);
  });

  it('no-usage leaves usage out, slow takes its time', async () => {
    const sim = await engine();
    expect((await post(sim, PATH, BODY, fault('no-usage'))).json).not.toHaveProperty('usage');
    const before = performance.now();
    await post(sim, PATH, BODY, fault('slow=60'));
    expect(performance.now() - before).toBeGreaterThan(55);
  });

  it('that is none is refused', async () => {
    const sim = await engine();
    expect((await post(sim, PATH, BODY, fault('explode'))).status).toBe(400);
  });
});

describe('faults planned ahead', () => {
  it('come from the options or by POST, one a call, in order', async () => {
    const sim = await engine({ faults: ['status=429'] });
    const statuses = async (count: number) => {
      const seen: number[] = [];
      for (let index = 0; index < count; index += 1) seen.push((await post(sim, PATH, BODY)).status);
      return seen;
    };
    expect(await statuses(2)).toEqual([429, 200]);
    const planned = await post(sim, '/sim/faults', { faults: ['status=503', 'status=500'] });
    expect(planned.json).toEqual({ pending: 2, health: 'up', stuck: false });
    expect(await statuses(3)).toEqual([503, 500, 200]);
    await post(sim, '/sim/faults', { faults: ['status=500'] });
    expect((await call(sim, 'DELETE', '/sim/faults')).json).toEqual({ pending: 0, health: 'up', stuck: false });
    expect(await statuses(1)).toEqual([200]);
  });

  it('a stuck engine runs nothing, says so, and goes on afterwards', async () => {
    const sim = await engine();
    expect((await post(sim, '/sim/faults', { stuck: true })).json).toMatchObject({ stuck: true });
    const answer = post(sim, PATH, BODY);
    await expect.poll(() => sim.stats().waiting).toBe(1);
    expect(sim.stats().running).toBe(0);
    expect((await call(sim, 'GET', '/health')).status).toBe(200);
    await call(sim, 'DELETE', '/sim/faults');
    expect((await answer).status).toBe(200);
    expect((await post(sim, '/sim/faults', { stuck: 1 })).status).toBe(400);
  });

  it('health can be down', async () => {
    const sim = await engine();
    await post(sim, '/sim/faults', { health: 'down' });
    expect((await call(sim, 'GET', '/health')).status).toBe(503);
    await post(sim, '/sim/faults', { health: 'up' });
    expect((await call(sim, 'GET', '/health')).status).toBe(200);
  });
});

describe('stats', () => {
  it('tell of the latest requests', async () => {
    const sim = await engine({ recordsMax: 2, recordBodies: true });
    for (const id of ['a', 'b', 'c']) await post(sim, PATH, BODY, { 'x-request-id': id });
    await expect.poll(() => sim.stats().finished).toBe(3);
    const { requests, records } = sim.stats();
    expect(requests).toBe(3);
    expect(records.map(({ headers }) => headers['x-request-id'])).toEqual(['b', 'c']);
    expect(JSON.parse(records[0]?.body ?? '')).toEqual(BODY);
    expect(records[1]?.sequences).toMatchObject([{ state: 'finished', promptTokens: 5, generatedTokens: 20 }]);
  });
});
