import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Pool } from 'undici';
import { afterEach, describe, expect, it } from 'vitest';
import { exchange, type Answer, type Watch } from '../../bench/soak/exchange.js';
import { judge, notBack } from '../../bench/soak/flat.js';
import { readOptions } from '../../bench/soak/options.js';
import type { Sample } from '../../bench/soak/samples.js';

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** One call to a server that answers like this. */
async function call(answer: (response: ServerResponse) => void, watch: Partial<Watch> = {}): Promise<Answer> {
  server = createServer((_, response) => answer(response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const pool = new Pool(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const got = await exchange(pool, { path: '/v1/chat/completions', body: '{}' }, { silenceMsMax: 5000, ...watch });
  await pool.destroy();
  return got;
}

const event = (value: unknown) => `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`;
const said = (content: string, more: object = {}) => event({ id: 'one', choices: [{ delta: { content }, ...more }] });
const stream =
  (...events: string[]) =>
  (response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const each of events) response.write(each);
    response.end();
  };

describe('how a call looks to its client', () => {
  it('is whole when its stream says so, in each API', async () => {
    const usage = event({ choices: [], usage: { completion_tokens: 2 } });
    const chat = await call(stream(said('a'), said('b', { finish_reason: 'stop' }), usage, event('[DONE]')));
    expect(chat).toMatchObject({ verdict: 'whole', text: 'ab', outputTokens: 2, events: 4 });
    expect([...chat.ids]).toEqual(['one']);
    const delta = event({ type: 'content_block_delta', delta: { type: 'text_delta', text: 'a' } });
    expect(await call(stream(delta, event({ type: 'message_stop' })))).toMatchObject({ verdict: 'whole', text: 'a' });
    const part = event({ type: 'response.output_text.delta', delta: 'a' });
    const completed = event({
      type: 'response.completed',
      response: { id: 'r', error: null, usage: { output_tokens: 1 } },
    });
    expect(await call(stream(part, completed))).toMatchObject({ verdict: 'whole', text: 'a', outputTokens: 1 });
  });

  it('is silent when it ends in order and has not said so', async () => {
    expect((await call(stream(said('a')))).verdict).toBe('silent');
    expect((await call((response) => response.end('{"choices": [{"mess'))).verdict).toBe('silent');
    expect((await call((response) => response.writeHead(500).end())).verdict).toBe('silent');
  });

  it('is told of an error by a status or by an event', async () => {
    const error = { error: { message: 'no', code: 'engine_failed' } };
    expect((await call((response) => response.writeHead(502).end(JSON.stringify(error)))).verdict).toBe('told');
    expect((await call((response) => response.writeHead(400).end('{"err'))).verdict).toBe('told');
    expect((await call(stream(said('a'), event(error)))).verdict).toBe('told');
    expect((await call(stream(event({ type: 'response.failed', response: { error } })))).verdict).toBe('told');
  });

  it('is broken, hung, or left by its client', async () => {
    const begin = (response: ServerResponse) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(said('a'));
      return response;
    };
    const broken = (response: ServerResponse) => void begin(response).write(said('b'), () => response.destroy());
    expect((await call(broken)).verdict).toBe('broken');
    expect((await call((response) => void begin(response), { silenceMsMax: 50 })).verdict).toBe('hung');
    const leaving = new AbortController();
    const watch = { leave: leaving.signal, seen: () => (leaving.abort(), false) };
    expect((await call((response) => void begin(response), watch)).verdict).toBe('left');
  });
});

/** A sample every minute, all of it this value. */
const samples = (count: number, valueAt: (minute: number) => number): Sample[] =>
  Array.from({ length: count }, (_, minutes) => {
    const read = (_: object, key: string | symbol) => (key === 'minutes' ? minutes : valueAt(minutes));
    return new Proxy({}, { get: read }) as Sample;
  });

describe('what is flat', () => {
  const flatness = (valueAt: (minute: number) => number) => judge(samples(40, valueAt)).map(({ flat }) => flat);

  it('stays as it was, or falls, whatever single samples do', () => {
    expect(flatness((minute) => (minute % 9 === 0 ? 5000 : 100))).not.toContain(false);
    expect(flatness((minute) => 1000 - 10 * minute)).not.toContain(false);
  });

  it('does not grow', () => {
    expect(flatness((minute) => 1000 * 1.05 ** minute)).not.toContain(true);
    const [memory] = judge(samples(40, (minute) => 100 + 2 * minute));
    expect(memory).toMatchObject({ measure: 'rssMb', flat: false });
    expect(memory?.slopePerHour).toBeCloseTo(120);
  });

  it('is not what was not measured', () => {
    expect(flatness(() => NaN)).not.toContain(true);
  });

  it('comes back to what it was', () => {
    const [idle, same, more] = [5, 5, 8].map((value) => samples(1, () => value)[0]!);
    expect(notBack(idle!, same!)).toEqual([]);
    expect(notBack(idle!, more!)).toContain('handles');
    expect(notBack(idle!, samples(1, () => NaN)[0]!)).toContain('calls');
  });
});

describe('a soak', () => {
  it('warms up for a fifth of its time, at most ten minutes', () => {
    expect(readOptions([])).toMatchObject({ minutes: 60, streams: 2000, warmUp: 10 });
    expect(readOptions(['--minutes', '20'])).toMatchObject({ warmUp: 4 });
  });
});
