import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { serve } from '../../support/serve.js';
import { BROKEN, QUICK, ejections, poisoned, say, says, states } from './misbehaving.js';
import {
  DONE_EVENT,
  JSON_TYPE,
  STREAM,
  begun,
  chatBody,
  completion,
  configOf,
  drainSocket,
  errorCode,
  fakeEngine,
  hang,
  named,
  gate,
  stream,
  until,
  world,
  type Answer,
  type FakeEngine,
  type World,
  lone,
  refusal,
} from './world.js';

describe('a request that makes every engine fail', () => {
  it.each(BROKEN)('(%s) is answered after two of them, and costs nobody else anything', async (_, bad, code) => {
    const engines = [await fakeEngine(poisoned(bad)), await fakeEngine(poisoned(bad))];
    const all = await world(engines, QUICK);
    for (let round = 0; round < 3; round++) {
      const [streamed] = say(`poison too ${round}`);
      const [one, two, good] = await Promise.all([
        all.chat(...say(`poison ${round}`, named('bad'))),
        all.chat({ ...streamed, stream: true }, named('bad')),
        all.chat(...say(`hello ${round}`, named('good'))),
      ]);
      for (const { status, headers, text } of [one, two]) {
        expect([status, errorCode(text), headers['x-maitred-reason']]).toEqual([502, code, code]);
        for (const { id } of engines) expect(text).not.toContain(id);
      }
      expect([good.status, good.headers['x-maitred-reason']]).toEqual([200, 'direct']);
    }
    const poison = engines.flatMap((engine) => engine.seen).filter(({ body }) => body.includes('poison'));
    expect(poison).toHaveLength(12);
    expect(ejections(all)).toBe(0);
    expect(await states(all)).toEqual(['up', 'up']);
  });
});

describe('answers that are too slow', () => {
  it('to one program’s calls eject no engine that answers others', async () => {
    const engines = [await fakeEngine(poisoned(hang)), await fakeEngine(poisoned(hang))];
    const all = await world(engines, { ...QUICK, timeouts: { firstByteMs: 200 } });
    const slow = Array.from({ length: 6 }, (_, i) => all.chat(...say(`poison ${i}`, named('slow'))));
    for (const got of await Promise.all(slow)) expect(got.status).toBe(504);
    expect((await all.chat({}, named('good'))).status).toBe(200);
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
      expect((await all.chat({}, named(`p${i}`))).status).toBe(200);
      for (let j = 0; j < 2; j++) await all.ask('/tokenize', { headers: JSON_TYPE, body: chatBody() });
      for (let j = 0; j < 2; j++) await all.chat(...say('bad', named('bad')));
    }
    await until(() => ejections(all) === 1);
  });
});

describe('an engine that refuses large bodies early, and closes', () => {
  it('is not blamed, and its words reach the client', async () => {
    const url = await serve((request, response) => {
      if (Number(request.headers['content-length'] ?? 0) < 100_000) {
        request.resume();
        response.setHeader('content-type', 'application/json');
        response.end(request.method === 'GET' ? '{"data":[{"id":"m"}]}' : '{"choices":[]}');
        return;
      }
      response.writeHead(413, { connection: 'close', 'content-type': 'application/json' });
      response.end('{"error":{"message":"too large"}}', () => request.socket.destroySoon());
    });
    const all = await world([], { engines: [{ url, kind: 'openai' }], health: QUICK.health });
    const large = { messages: [{ role: 'user', content: 'x'.repeat(3_000_000) }] };
    const got: number[] = [];
    for (let n = 0; n < 20; n += 1) got.push((await all.chat(large, named('large'))).status);
    // Where the reset overtakes the answer, nobody can read it.
    expect(got.filter((status) => status !== 413 && status !== 502)).toEqual([]);
    expect(got).toContain(413);
    expect((await all.chat({}, named('good'))).status).toBe(200);
    expect(ejections(all)).toBe(0);
  });
});

describe('a stream that begins with an error', () => {
  it('is tried elsewhere, and counts against its engine', async () => {
    const broken = stream(['data: {"error":{"message":"boom"}}\n\n', DONE_EVENT]);
    // Once ejected it stays away: back on probation, it would be given a call and fail again.
    const health = { ...QUICK.health, backoffMs: 60_000, backoffMsMax: 60_000 };
    const all = await world([await fakeEngine(broken), await fakeEngine(stream())], { health });
    for (let i = 0; i < 6; i++) {
      const got = await all.chat({ stream: true }, named(`p${i}`));
      expect([got.status, got.text]).toEqual([200, STREAM.join('')]);
    }
    await until(() => ejections(all) === 1);
  });

  it('everywhere is told with the engine’s words', async () => {
    const all = await lone(stream(['data: {"error":{"message":"boom"}}\n\n']), QUICK);
    const got = await all.chat({ stream: true });
    expect(refusal(got)).toEqual([502, 'engine_failed']);
    expect(got.text).toContain('boom');
  });
});

describe('an engine whose id has moved to another address', () => {
  it('is not blamed for calls of the former one', async () => {
    const [before, after] = [await fakeEngine(() => undefined), await fakeEngine()];
    const at = (url: string) => ({ engines: [{ id: 'e', url, kind: 'openai' }], health: { failuresMax: 1 } });
    const all = await world([], at(before.url));
    const calls = [1, 2].map(() => all.chat());
    await until(() => before.seen.length === 2);
    all.gateway.reload(configOf([], at(after.url)));
    await until(async () => (await states(all)).includes('up'));
    await before.close();
    for (const call of calls) expect((await call).status).toBe(200);
    expect(ejections(all)).toBe(0);
  });
});

describe('an engine that has come back', () => {
  async function backOnProbation(engines: FakeEngine[], health: object): Promise<World> {
    const all = await world(engines, { health: { failuresMax: 1, backoffMs: 20, ...health } });
    const last = engines.at(-1)!;
    const answers = engines.map(({ answer }) => answer);
    for (const engine of engines)
      engine.answer = engine === last ? (response) => void response.destroy() : completion();
    while (ejections(all) === 0) await Promise.all([all.chat(), all.chat()]);
    for (const [index, engine] of engines.entries()) engine.answer = answers[index]!;
    await until(async () => (await states(all)).at(-1) === 'probation');
    return all;
  }

  it('is given a call though another has room, and its first byte proves it', async () => {
    const { opened, open } = gate();
    const slow = begun((response) => opened.then(() => response.end(STREAM.join(''))));
    const engines = [await fakeEngine(stream()), await fakeEngine(slow)];
    const all = await backOnProbation(engines, { intervalMs: 60_000 });
    const { body, headers } = await all.openChat({ stream: true });
    expect(headers['x-maitred-engine']).toBe(engines[1]!.id);
    await once(body, 'data');
    expect(await states(all)).toEqual(['up', 'up']);
    open();
    await body.dump();
  });
});

describe('a slow upload of a request that is passed through', () => {
  it('is not the engine’s silence', async () => {
    const engine = await fakeEngine((response) => void response.end('done'));
    const all = await world([engine], { timeouts: { firstByteMs: 100, idleMs: 100 }, health: { failuresMax: 1 } });
    const socket = all.dial();
    const head = 'POST /v1/audio/transcriptions HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 8\r\n\r\n';
    socket.write(`${head}abcd`);
    await new Promise((resolve) => setTimeout(resolve, 300));
    socket.write('efgh');
    expect(await drainSocket(socket)).toMatch(/^HTTP\/1.1 200 [^]*done/);
    expect(ejections(all)).toBe(0);
  });
});
