import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { QUICK, asProgram, ejections, poisoned, say, says, states } from './misbehaving.js';
import {
  DONE_EVENT,
  JSON_TYPE,
  STREAM,
  ask,
  chat,
  chatBody,
  completion,
  configOf,
  errorCode,
  fakeEngine,
  gate,
  metrics,
  stream,
  until,
  world,
  type Answer,
} from './world.js';

describe('answers that are too slow', () => {
  const silent: Answer = () => undefined;

  it('to one program’s calls eject no engine that answers others', async () => {
    const engines = [await fakeEngine(poisoned(silent)), await fakeEngine(poisoned(silent))];
    const all = await world(engines, { ...QUICK, timeouts: { firstByteMs: 200 } });
    const slow = Array.from({ length: 6 }, (_, i) => chat(all.url, ...say(`poison ${i}`, asProgram('slow'))));
    for (const got of await Promise.all(slow)) expect(got.status).toBe(504);
    expect((await chat(all.url, {}, asProgram('good'))).status).toBe(200);
    expect(ejections(all)).toBe(0);
  });

  it('convict an engine, whatever it answers to refused and passed-through requests', async () => {
    const hung: Answer = (response, { url, body }) => {
      if (url.includes('tokenize')) response.end('{}');
      else if (body.includes('bad')) void says(400, { message: 'bad' })(response, {} as never, {} as never);
    };
    const all = await world([await fakeEngine(hung), await fakeEngine()], {
      ...QUICK,
      health: { ...QUICK.health, intervalMs: 60_000 },
      timeouts: { firstByteMs: 100 },
      balancer: { name: 'least-loaded' },
    });
    for (let i = 0; i < 8 && ejections(all) === 0; i++) {
      expect((await chat(all.url, {}, asProgram(`p${i}`))).status).toBe(200);
      for (let j = 0; j < 2; j++) await ask(`${all.url}/tokenize`, { headers: JSON_TYPE, body: chatBody() });
      for (let j = 0; j < 2; j++) await chat(all.url, ...say('bad', asProgram('bad')));
    }
    await until(() => ejections(all) === 1);
  });
});

describe('an engine that refuses large bodies early, and closes', () => {
  it('is not blamed, and its words reach the client', async () => {
    const server = createServer((request, response) => {
      if (Number(request.headers['content-length'] ?? 0) < 100_000) {
        request.resume();
        response.setHeader('content-type', 'application/json');
        response.end(request.method === 'GET' ? '{"data":[{"id":"m"}]}' : '{"choices":[]}');
        return;
      }
      response.writeHead(413, { connection: 'close', 'content-type': 'application/json' });
      response.end('{"error":{"message":"too large"}}', () => request.socket.destroySoon());
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const engine = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, kind: 'openai' };
    const all = await world([], { engines: [engine], health: QUICK.health });
    const large = { messages: [{ role: 'user', content: 'x'.repeat(3_000_000) }] };
    const got: number[] = [];
    for (let n = 0; n < 20; n += 1) got.push((await chat(all.url, large, asProgram('large'))).status);
    // Where the reset overtakes the answer, nobody can read it.
    expect(got.filter((status) => status !== 413 && status !== 502)).toEqual([]);
    expect(got).toContain(413);
    expect((await chat(all.url, {}, asProgram('good'))).status).toBe(200);
    expect(ejections(all)).toBe(0);
    await all.gateway.close();
    server.close();
    server.closeAllConnections();
  });
});

describe('a stream that begins with an error', () => {
  it('is tried elsewhere, and counts against its engine', async () => {
    const broken = stream(['data: {"error":{"message":"boom"}}\n\n', DONE_EVENT]);
    const all = await world([await fakeEngine(broken), await fakeEngine(stream())], QUICK);
    for (let i = 0; i < 6; i++) {
      const got = await chat(all.url, { stream: true }, asProgram(`p${i}`));
      expect([got.status, got.text]).toEqual([200, STREAM.join('')]);
    }
    await until(() => ejections(all) === 1);
  });

  it('everywhere is told with the engine’s words', async () => {
    const all = await world([await fakeEngine(stream(['data: {"error":{"message":"boom"}}\n\n']))], QUICK);
    const got = await chat(all.url, { stream: true });
    expect([got.status, errorCode(got.text)]).toEqual([502, 'engine_failed']);
    expect(got.text).toContain('boom');
  });
});

describe('an engine whose id has moved to another address', () => {
  it('is not blamed for calls of the former one', async () => {
    const [before, after] = [await fakeEngine(() => undefined), await fakeEngine()];
    const at = (url: string) => ({ engines: [{ id: 'e', url, kind: 'openai' }], health: { failuresMax: 1 } });
    const all = await world([], at(before.url));
    const calls = [1, 2].map(() => chat(all.url));
    await until(() => before.seen.length === 2);
    all.gateway.reload(configOf([], at(after.url)));
    await until(async () => (await states(all)).includes('up'));
    await before.close();
    for (const call of calls) expect((await call).status).toBe(200);
    expect(ejections(all)).toBe(0);
  });
});

describe('prompts that only look over-long', () => {
  it('pass the window two at a time; further ones wait until one of these is answered', async () => {
    const { opened, open } = gate();
    let running = 0;
    let most = 0;
    const engine = await fakeEngine(async (response, seen, request) => {
      most = Math.max(most, (running += 1));
      await opened;
      running -= 1;
      await completion()(response, seen, request);
    });
    const engines = [{ url: engine.url, kind: 'openai', contextTokensMax: 100 }];
    const { url, adminUrl } = await world([], { engines, admission: { window: 2 } });
    const padded = Array.from({ length: 6 }, (_, i) =>
      chat(url, { messages: [{ role: 'user', content: 'hello', pad: 'x'.repeat(5000) }] }, asProgram(`p${i}`)),
    );
    await until(async () => (await metrics(adminUrl)).get('maitred_calls_in_system') === 6);
    await until(() => running === 2);
    open();
    for (const got of await Promise.all(padded)) expect(got.status).toBe(200);
    expect(most).toBe(2);
  });
});
