import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { QUICK, asProgram, ejections, poisoned, say, says, states } from './misbehaving.js';
import {
  JSON_TYPE,
  STREAM,
  TEXT_EVENT,
  ask,
  chat,
  chatBody,
  completion,
  dial,
  drainSocket,
  errorCode,
  fakeEngine,
  gate,
  openChat,
  stream,
  until,
  waiting,
  world,
  type Answer,
  type FakeEngine,
  type World,
} from './world.js';

describe('a request that makes every engine fail', () => {
  const half: Answer = (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write('{"choices":[', () => response.destroy());
  };
  const reset: Answer = (response) => void response.destroy();
  const flood: Answer = (response) => void response.writeHead(200, { pad: 'x'.repeat(40_000) }).end();
  const html: Answer = (response) => void response.end('<html>no</html>');
  const large: Answer = completion({ pad: 'x'.repeat(5000) });

  it.each([
    ['500', says(500, { message: 'no' }), 2],
    ['a reset before the headers', reset, 2],
    ['headers without end', flood, 2],
    ['an answer that is cut', half, 2],
    ['an answer that is no JSON', html, 2],
    ['an answer that is too large', large, 1],
  ] as const)('(%s) is answered after two of them, and costs nobody else anything', async (_, bad, tries) => {
    const engines = [await fakeEngine(poisoned(bad)), await fakeEngine(poisoned(bad))];
    const all = await world(engines, { ...QUICK, limits: { answerBytes: 2000 } });
    for (let round = 0; round < 6; round++) {
      const [one, two, good] = await Promise.all([
        chat(all.url, ...say(`poison ${round}`, asProgram('bad'))),
        chat(all.url, ...say(`poison too ${round}`, asProgram('bad'))),
        chat(all.url, ...say(`hello ${round}`, asProgram('good'))),
      ]);
      expect([one.status, two.status]).toEqual([502, 502]);
      expect([good.status, good.headers['x-maitred-reason']]).toEqual([200, 'direct']);
    }
    const poison = engines.flatMap((engine) => engine.seen).filter(({ body }) => body.includes('poison'));
    expect(poison).toHaveLength(12 * tries);
    expect(ejections(all)).toBe(0);
    expect(await states(all)).toEqual(['up', 'up']);
  });

  it('is told what the last engine said, without addresses and keys', async () => {
    const message = 'CUDA error in http://10.0.0.7:8000/run for key sk-abcdefgh1234 and client-secret';
    const engine = await fakeEngine(says(500, { message }));
    const { url } = await world([engine], { limits: { attemptsMax: 1 } });
    const got = await chat(url, {}, { authorization: 'Bearer client-secret' });
    expect([got.status, errorCode(got.text)]).toEqual([502, 'engine_failed']);
    expect(got.text).toContain('status 500: CUDA error in [...] for key [...] and [...]');
  });

  it.each([
    [
      'a page',
      (response: ServerResponse) => void response.writeHead(502).end('<p>boom at Object. (/srv/app.js:1:1)</p>'),
      'status 502.',
    ],
    ['a path', says(500, { message: 'boom in /srv/engine/x.py:5' }), 'status 500: boom in [...]'],
    ['a stack', says(500, { message: 'boom\n    at run (/srv/app.js:1:1)' }), 'status 500: boom'],
  ] as const)('is not told the insides of engines (%s)', async (_, answer, words) => {
    const { url } = await world([await fakeEngine(answer)], { limits: { attemptsMax: 1 } });
    const { error } = (await chat(url)).json() as { error: { message: string } };
    expect(error.message).toMatch(new RegExp(`${words.replaceAll(/[.[\]]/g, '\\$&')}$`));
  });
});

describe('an engine whose answers fail calls', () => {
  it('that another engine answers is ejected, though it says that it is well', async () => {
    const bad = await fakeEngine(says(500, { message: 'no' }));
    const good = await fakeEngine();
    const all = await world([bad, good], QUICK);
    for (const id of ['a', 'a', 'a']) expect((await chat(all.url, {}, asProgram(id))).status).toBe(200);
    expect(ejections(all)).toBe(0);
    await chat(all.url, {}, asProgram('b'));
    await until(() => ejections(all) > 0);
  });
});

describe('a path with slashes too many', () => {
  it.each(['/v1/chat/completions/', '/v1//chat/completions', '//v1/chat/completions//'])(
    '%s goes out as ours',
    async (path) => {
      const engine = await fakeEngine();
      const { url } = await world([engine]);
      expect((await ask(`${url}${path}?x=1`, { headers: JSON_TYPE, body: chatBody() })).status).toBe(200);
      expect(engine.last.url).toBe('/v1/chat/completions?x=1');
    },
  );
});

describe('a redirect of an engine', () => {
  it('is passed on as an answer, leads here where it led to the engine, and nowhere where it led elsewhere', async () => {
    const engine = await fakeEngine();
    const all = await world([engine], QUICK);
    for (const location of [`${engine.url}/v1/elsewhere?y=2`, '/x', 'https://other.example/', '//other/', '/\\other']) {
      engine.answer = (response) => void response.writeHead(307, { location }).end();
      const got = await chat(all.url);
      const isHere = !location.includes('other');
      expect([got.status, got.headers.location]).toEqual([307, isHere ? location.replace(engine.url, '') : undefined]);
    }
    expect([engine.seen.length, ejections(all)]).toEqual([5, 0]);
  });
});

describe('no room', () => {
  const quota = says(429, { message: 'over', code: 'insufficient_quota' }, { 'retry-after': '300' });

  it('for one caller alone is its answer at once, and rests nothing', async () => {
    const engine = await fakeEngine(poisoned(quota));
    const all = await world([engine]);
    const got = await chat(all.url, ...say('poison'));
    expect([got.status, got.headers['retry-after'], got.json()['error']]).toEqual([
      429,
      '300',
      { message: 'over', code: 'insufficient_quota' },
    ]);
    expect((await chat(all.url)).headers['x-maitred-reason']).toBe('direct');
  });

  it('that only one program sees while another is served is its answer', async () => {
    const engine = await fakeEngine(poisoned(says(429, { message: 'slow down' }, { 'retry-after': '300' })));
    const { url } = await world([engine]);
    await chat(url, {}, asProgram('good'));
    expect((await chat(url, ...say('poison', asProgram('bad')))).status).toBe(429);
    expect((await chat(url, {}, asProgram('good'))).headers['x-maitred-reason']).toBe('direct');
  });

  it('for longer than `busyMs` is answered with what the engine said', async () => {
    const engine = await fakeEngine(says(503, { message: 'full' }, { 'retry-after': '0.05' }));
    const { url } = await world([engine], { timeouts: { busyMs: 300 } });
    const got = await chat(url);
    expect([got.status, got.headers['retry-after'], got.json()['error']]).toEqual([503, '0.05', { message: 'full' }]);
    // The rests double from 50 ms on: at 300 ms the engine was asked three or four times, fewer on a slow machine.
    expect(engine.seen.length).toBeGreaterThan(1);
    expect(engine.seen.length).toBeLessThan(5);
  });
});

describe('when all engines are gone', () => {
  async function gone(engine: FakeEngine, overrides: object): Promise<World> {
    const all = await world([engine], { health: { ...QUICK.health, failuresMax: 1 }, ...overrides });
    await engine.close();
    await until(async () => (await states(all))[0] === 'ejected');
    return all;
  }

  it('a call waits for `noEngineMs`, then hears so; one for a model never seen at once', async () => {
    const all = await gone(await fakeEngine(), { timeouts: { noEngineMs: 200 } });
    const start = performance.now();
    const got = await chat(all.url);
    expect([got.status, errorCode(got.text)]).toEqual([503, 'no_engine']);
    expect(Number(got.headers['retry-after'])).toBeGreaterThan(0);
    expect(performance.now() - start).toBeGreaterThanOrEqual(195);
    expect((await chat(all.url, { model: 'never-seen' })).status).toBe(404);
  });

  it('calls that wait already hear it too', async () => {
    const { opened, open } = gate();
    const engine = await fakeEngine(async (response) => {
      await opened;
      response.destroy();
    });
    const all = await world([engine], {
      health: { ...QUICK.health, failuresMax: 1 },
      admission: { window: 1 },
      timeouts: { noEngineMs: 100 },
    });
    const calls = [chat(all.url), chat(all.url)];
    await until(async () => (await waiting(all.adminUrl)) === 1);
    const closed = engine.close();
    open();
    await closed;
    for (const call of calls) expect((await call).status).toBe(503);
  });

  it('and one cannot be reached, a call is sent when it can be again', async () => {
    const engine = await fakeEngine();
    const port = Number(new URL(engine.url).port);
    const all = await world([engine], { health: { failuresMax: 1000 } });
    await engine.close();
    const call = chat(all.url);
    await until(async () => (await waiting(all.adminUrl)) === 1);
    const { createServer } = await import('node:http');
    const server = createServer((_, response) => void completion()(response, undefined as never, undefined as never));
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    expect((await call).status).toBe(200);
    server.closeAllConnections();
    server.close();
  });
});

describe('a call that its engine fails while another is out', () => {
  it('waits for that one, and does not wear itself out on the one that is left', async () => {
    const [a, b] = [await fakeEngine(), await fakeEngine((response) => void response.destroy())];
    const all = await world([a, b], { health: { failuresMax: 1, intervalMs: 100, backoffMs: 500 } });
    while (ejections(all) === 0) await Promise.all([chat(all.url), chat(all.url)]);
    const served = a.seen.length;
    a.answer = says(500, { message: 'no' });
    b.answer = completion();
    const got = await chat(all.url);
    expect([got.status, got.headers['x-maitred-engine'], a.seen.length - served]).toEqual([200, b.id, 1]);
  });
});

describe('an engine that has come back', () => {
  async function backOnProbation(engines: FakeEngine[], health: object): Promise<World> {
    const all = await world(engines, { health: { failuresMax: 1, backoffMs: 20, ...health } });
    const last = engines.at(-1)!;
    const answers = engines.map(({ answer }) => answer);
    for (const engine of engines)
      engine.answer = engine === last ? (response) => void response.destroy() : completion();
    while (ejections(all) === 0) await Promise.all([chat(all.url), chat(all.url)]);
    for (const [index, engine] of engines.entries()) engine.answer = answers[index]!;
    await until(async () => (await states(all)).at(-1) === 'probation');
    return all;
  }

  it('is given a call though another has room, and its first byte proves it', async () => {
    const { opened, open } = gate();
    const engines = [
      await fakeEngine(stream()),
      await fakeEngine(async (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(TEXT_EVENT);
        await opened;
        response.end(STREAM.join(''));
      }),
    ];
    const all = await backOnProbation(engines, { intervalMs: 60_000 });
    const { body, headers } = await openChat(all.url, { stream: true });
    expect(headers['x-maitred-engine']).toBe(engines[1]!.id);
    await once(body, 'data');
    expect(await states(all)).toEqual(['up', 'up']);
    open();
    await body.dump();
  });

  it('is proved by its next good probe', async () => {
    const engines = [await fakeEngine(), await fakeEngine()];
    const all = await backOnProbation(engines, { intervalMs: 100 });
    await until(async () => (await states(all)).at(-1) === 'up');
  });
});

describe('a slow upload of a request that is passed through', () => {
  it('is not the engine’s silence', async () => {
    const engine = await fakeEngine((response) => void response.end('done'));
    const all = await world([engine], { timeouts: { firstByteMs: 100, idleMs: 100 }, health: { failuresMax: 1 } });
    const socket = dial(all.url);
    const head = 'POST /v1/audio/transcriptions HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 8\r\n\r\n';
    socket.write(`${head}abcd`);
    await new Promise((resolve) => setTimeout(resolve, 300));
    socket.write('efgh');
    expect(await drainSocket(socket)).toMatch(/^HTTP\/1.1 200 [^]*done/);
    expect(ejections(all)).toBe(0);
  });
});
