import { once } from 'node:events';
import { createServer } from 'node:http';
import { describe, expect, it } from 'vitest';
import { QUICK, asProgram, poisoned, say, says, states } from './misbehaving.js';
import {
  chat,
  completion,
  errorCode,
  fakeEngine,
  metrics,
  queueOf,
  until,
  waiting,
  world,
  type FakeEngine,
  type World,
} from './world.js';

describe('an engine without room', () => {
  it.each([429, 503])('(%i) is left alone for as long as it says while others are tried', async (code) => {
    const full = await fakeEngine(says(code, { message: 'full' }, { 'retry-after': '0.3' }));
    const { url, adminUrl } = await world([full], queueOf(250));
    const start = performance.now();
    const got = await chat(url);
    expect([got.status, errorCode(got.text)]).toEqual([408, 'queue_timeout']);
    expect(performance.now() - start).toBeGreaterThanOrEqual(240);
    expect(full.seen).toHaveLength(1);
    expect((await metrics(adminUrl)).get('maitred_calls_ended_total{outcome="timed_out"}')).toBe(1);
  });

  it('leaves the call to another at once, and is not counted as broken', async () => {
    const [full, free] = [await fakeEngine(says(429, { message: 'full' })), await fakeEngine()];
    const all = await world([full, free], { health: { failuresMax: 1 }, balancer: { name: 'least-loaded' } });
    for (let i = 0; i < 3; i++) expect((await chat(all.url)).headers['x-maitred-engine']).toBe(free.id);
    expect(await states(all)).toEqual(['up', 'up']);
  });

  const quota = says(429, { message: 'over', code: 'insufficient_quota' }, { 'retry-after': '300' });

  it('for one caller alone says so to that caller at once, and rests nothing', async () => {
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

  it('for one program while another is served while another is served is its answer', async () => {
    const engine = await fakeEngine(poisoned(says(429, { message: 'slow down' }, { 'retry-after': '300' })));
    const { url } = await world([engine]);
    await chat(url, {}, asProgram('good'));
    expect((await chat(url, ...say('poison', asProgram('bad')))).status).toBe(429);
    expect((await chat(url, {}, asProgram('good'))).headers['x-maitred-reason']).toBe('direct');
  });

  it('for longer than `busyMs` is quoted', async () => {
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

  it('and one cannot be reached, a call is sent when it can be again', async () => {
    const engine = await fakeEngine();
    const port = Number(new URL(engine.url).port);
    const all = await world([engine], { health: { failuresMax: 1000 } });
    await engine.close();
    const call = chat(all.url);
    await until(async () => (await waiting(all.adminUrl)) === 1);
    const server = createServer((_, response) => void completion()(response, undefined as never, undefined as never));
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    expect((await call).status).toBe(200);
    server.closeAllConnections();
    server.close();
  });
});
