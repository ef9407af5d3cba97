import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { serve } from '../../support/serve.js';
import { noEngine } from '../../../sidecar/unscheduled/models.js';
import { BROKEN, QUICK, ejections, poisoned, say, says, states } from './misbehaving.js';
import {
  begun,
  DONE_EVENT,
  MODEL,
  STREAM,
  TEXT_EVENT,
  completion,
  completionBody,
  errorCode,
  fakeEngine,
  hang,
  named,
  queueOf,
  refusal,
  stream,
  until,
  world,
  type Answer,
  type FakeEngine,
  type World,
  lone,
  replies,
} from './world.js';

/** Never ejects, so that each test sees only its own failure. */
const PATIENT = { health: { failuresMax: 1000 } };

/** Two equal engines. The first one that receives a request misbehaves from then on; the other one is good. */
async function goodAndBad(bad: Answer, good: Answer): Promise<readonly [FakeEngine, FakeEngine, () => FakeEngine]> {
  let first: FakeEngine | undefined;
  const engines = [await fakeEngine(), await fakeEngine()] as const;
  for (const engine of engines)
    engine.answer = (...args) => {
      first ??= engine;
      return engine === first ? bad(...args) : good(...args);
    };
  const [a, b] = engines;
  return [a, b, () => (first === a ? b : a)];
}

describe('an engine that fails before the first byte', () => {
  it.each(BROKEN)('%s: another engine answers', async (_, answer) => {
    for (const streamed of [false, true]) {
      const [a, b, good] = await goodAndBad(answer, streamed ? stream() : completion());
      const { chat, metrics } = await world([a, b], PATIENT);
      const got = await chat({ stream: streamed });
      const told = { 'x-maitred-engine': good().id, 'x-maitred-reason': 'retried' };
      expect(got).toMatchObject({ status: 200, headers: told });
      expect(got.text).toBe(streamed ? STREAM.join('') : JSON.stringify(completionBody()));
      expect([a.seen.length, b.seen.length]).toEqual([1, 1]);
      expect((await metrics()).get('maitred_call_retries_total')).toBe(1);
    }
  });

  it('is tried as often as allowed where it is alone', async () => {
    const { engine, chat } = await lone((response) => void response.destroy(), {
      ...PATIENT,
      limits: { attemptsMax: 3 },
    });
    expect(refusal(await chat({ stream: true }))).toEqual([502, 'engine_failed']);
    expect(engine.seen).toHaveLength(3);
  });

  it('hangs: another engine answers; with no other, 504', async () => {
    const [a, b, good] = await goodAndBad(hang, completion());
    const quick = { ...PATIENT, timeouts: { firstByteMs: 1_000 }, limits: { attemptsMax: 2 } };
    const both = await world([a, b], quick);
    expect((await both.chat()).headers['x-maitred-engine']).toBe(good().id);
    await (good() === a ? b : a).last.abandoned;
    const alone = await lone(hang, quick);
    expect(refusal(await alone.chat())).toEqual([504, 'engine_timeout']);
    await expect.poll(() => alone.calls()[0]?.['outcome']).toBe('timed_out');
  });

  it.each<[string, string, (response: ServerResponse) => void]>([
    ['hangs after its headers, as the first byte is that of the body', '', () => undefined],
    ['has only sent comments', ': keep-alive\n\n', (response) => response.destroy()],
  ])('%s: another engine answers, in the same stream', async (_, comment, then) => {
    const [a, b] = await goodAndBad((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.flushHeaders();
      response.write(comment, () => then(response));
    }, stream());
    const { chat } = await world([a, b], { ...PATIENT, timeouts: { firstByteMs: 1_000, idleMs: 60_000 } });
    expect((await chat({ stream: true })).text.replaceAll(/^:.*\n\n/gm, '')).toBe(STREAM.join(''));
  });

  it('sends more than is taken: 502 at once, since it would do so again', async () => {
    const { engine, chat } = await lone(completion({ pad: 'x'.repeat(5000) }), { limits: { answerBytes: 1024 } });
    expect(refusal(await chat())).toEqual([502, 'engine_answer_too_large']);
    expect(engine.seen).toHaveLength(1);
  });
});

describe('an engine that fails after the first byte', () => {
  const ways: readonly (readonly [string, Answer, string])[] = [
    ['resets', begun((response) => response.destroy()), 'engine_failed'],
    ['ends early', begun((response) => response.end()), 'engine_failed'],
    ['ends in half an event', begun((response) => response.end('data: {"choi')), 'engine_failed'],
    ['falls silent', begun(() => undefined), 'engine_timeout'],
  ];

  it.each(ways)('%s: the stream ends with an error event, and there is no second answer', async (_, answer, code) => {
    const [a, b, good] = await goodAndBad(answer, stream());
    const { calls, chat } = await world([a, b], {
      ...PATIENT,
      ...(code === 'engine_timeout' && { timeouts: { idleMs: 100 } }),
    });
    const { status: sent, text } = await chat({ stream: true });
    expect(sent).toBe(200);
    expect(text).toMatch(/^data: \{"choices".*\n\ndata: \{"error":\{.*\}\}\n\n$/);
    expect(errorCode(text)).toBe(code);
    expect(text).not.toMatch(/\[DONE\]|UND_ERR/);
    expect(good().seen).toEqual([]);
    await expect.poll(() => calls()[0]).toMatchObject({ code, status: 200, attempts: 1 });
  });

  it('but had said that it was done has done its work', async () => {
    const { calls, chat } = await lone(begun((response) => response.destroy(), TEXT_EVENT + DONE_EVENT));
    expect((await chat({ stream: true })).text).toBe(TEXT_EVENT + DONE_EVENT);
    await expect.poll(() => calls()[0]?.['outcome']).toBe('completed');
  });
});

describe('a client whose call every engine fails', () => {
  it('hears what the last engine said, without addresses and keys', async () => {
    const message = 'CUDA error in http://10.0.0.7:8000/run for key sk-abcdefgh1234 and client-secret';
    const { chat } = await lone(says(500, { message }), { limits: { attemptsMax: 1 } });
    const got = await chat({}, { authorization: 'Bearer client-secret' });
    expect(refusal(got)).toEqual([502, 'engine_failed']);
    expect(got.text).toContain('status 500: CUDA error in [...] for key [...] and [...]');
  });

  it.each([
    ['a page', replies(502, '<p>boom at Object. (/srv/app.js:1:1)</p>'), 'status 502.'],
    ['a path', says(500, { message: 'boom in /srv/engine/x.py:5' }), 'status 500: boom in [...]'],
    ['no path but', says(500, { message: 'no /v1/completions' }), 'status 500: no /v1/completions'],
    ['a stack', says(500, { message: 'boom\n    at run (/srv/app.js:1:1)' }), 'status 500: boom'],
  ] as const)('does not hear the insides of engines (%s)', async (_, answer, words) => {
    const { chat } = await lone(answer, { limits: { attemptsMax: 1 } });
    const { error } = (await chat()).json() as { error: { message: string } };
    expect(error.message).toMatch(new RegExp(`${words.replaceAll(/[.[\]]/g, '\\$&')}$`));
  });
});

describe('the log line of a call that failed', () => {
  it('warns of a failure of the engine or the gateway, with code and reason in the words of why', async () => {
    const all = await lone(says(500, { message: 'CUDA error in http://10.0.0.7:8000/run' }), {
      limits: { attemptsMax: 1 },
    });
    await all.chat({}, named('p'));
    const message = 'The engine answered with status 500: CUDA error in [...]';
    await expect.poll(() => all.calls()).toMatchObject([{ level: 40, code: 'engine_failed', message }]);
    expect((await all.ask('/programs/p/explain')).text).toContain(message);
    const none = await world([], { engines: [{ url: 'http://127.0.0.1:1' }] });
    await none.chat();
    const reason = expect.stringMatching(/^No engine is ready \(.*: connection refused\)\.$/) as string;
    const refused = () => none.logs.filter(({ msg }) => msg === 'refused' || msg === 'call');
    await expect.poll(refused).toMatchObject([{ level: 40, code: 'no_engine', message: reason }]);
  });

  it('is none of a client’s fault, and does not quote what a client may have written', async () => {
    const { calls, chat, logs } = await lone(says(400, { message: 'no role for "my secret prompt"' }));
    await chat();
    await expect.poll(calls).toMatchObject([{ level: 30, code: 'engine_400', outcome: 'client_error' }]);
    await chat({ messages: 'my secret prompt' });
    await expect.poll(() => logs.filter(({ msg }) => msg === 'refused')).toMatchObject([{ level: 30 }]);
    expect(JSON.stringify(logs)).not.toContain('my secret prompt');
  });
});

describe('a call that its engine fails while another is out', () => {
  it('waits for that one, and does not wear itself out on the one that is left', async () => {
    const [a, b] = [await fakeEngine(), await fakeEngine()];
    // The call waits for as long as b's next probe may take, which is far longer than it does.
    const health = { failuresMax: 1, intervalMs: 100, timeoutMs: 5000, backoffMs: 500, backoffMsMax: 500 };
    const all = await world([a, b], { health });
    b.all = 503;
    await until(() => ejections(all) > 0);
    a.answer = (...asked) => {
      b.all = undefined;
      return says(500, { message: 'no' })(...asked);
    };
    const got = await all.chat();
    expect([got.status, got.headers['x-maitred-engine'], a.seen.length]).toEqual([200, b.id, 1]);
  });
});

describe('an engine without room', () => {
  it.each([429, 503])('(%i) is left alone for as long as it says while others are tried', async (code) => {
    const full = await fakeEngine(says(code, { message: 'full' }, { 'retry-after': '0.3' }));
    const { chat, metrics } = await world([full], queueOf(250));
    const start = performance.now();
    expect(refusal(await chat())).toEqual([408, 'queue_timeout']);
    expect(performance.now() - start).toBeGreaterThanOrEqual(240);
    expect(full.seen).toHaveLength(1);
    expect((await metrics()).get('maitred_calls_ended_total{outcome="timed_out"}')).toBe(1);
  });

  it('leaves the call to another at once, and is not counted as broken', async () => {
    const [full, free] = [await fakeEngine(says(429, { message: 'full' })), await fakeEngine()];
    const all = await world([full, free], { health: { failuresMax: 1 }, balancer: { name: 'least-loaded' } });
    for (let i = 0; i < 3; i++) expect((await all.chat()).headers['x-maitred-engine']).toBe(free.id);
    expect(await states(all)).toEqual(['up', 'up']);
  });

  const quota = says(429, { message: 'over', code: 'insufficient_quota' }, { 'retry-after': '300' });

  it('for one caller alone says so to that caller at once, and rests nothing', async () => {
    const engine = await fakeEngine(poisoned(quota));
    const all = await world([engine]);
    const got = await all.chat(...say('poison'));
    expect(got).toMatchObject({ status: 429, headers: { 'retry-after': '300' } });
    expect(got.json()['error']).toEqual({ message: 'over', code: 'insufficient_quota' });
    expect((await all.chat()).headers['x-maitred-reason']).toBe('direct');
  });

  it('for one program while another is served is its answer', async () => {
    const { chat } = await lone(poisoned(says(429, { message: 'slow down' }, { 'retry-after': '300' })));
    await chat({}, named('good'));
    expect((await chat(...say('poison', named('bad')))).status).toBe(429);
    expect((await chat({}, named('good'))).headers['x-maitred-reason']).toBe('direct');
  });

  it('for longer than `busyMs` is quoted', async () => {
    const { engine, chat } = await lone(says(503, { message: 'full' }, { 'retry-after': '0.05' }), {
      timeouts: { busyMs: 300 },
    });
    const got = await chat();
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
    await until(async () => (await states(all))[0] === 'down');
    return all;
  }

  it('a call waits for `noEngineMs`, then hears why, without addresses; one for a model never seen at once', async () => {
    const engine = await fakeEngine();
    const all = await gone(engine, { timeouts: { noEngineMs: 200 } });
    const start = performance.now();
    const got = await all.chat({}, named('p'));
    expect(refusal(got)).toEqual([503, 'no_engine']);
    expect((await all.ask('/programs/p/explain')).json()['text']).toMatch(
      /It failed with 503 no_engine after \d+ ms: No engine is ready \(.*: connection re/,
    );
    expect(Number(got.headers['retry-after'])).toBeGreaterThan(0);
    expect(performance.now() - start).toBeGreaterThanOrEqual(195);
    expect(got.text).toMatch(/No engine is ready \([^()]+: connection (refused|reset)\)\./);
    expect((await all.chat({ model: 'never-seen' })).status).toBe(404);
  });

  it('a call waits also for an engine that was never up, if the configuration names its models', async () => {
    const engine = await fakeEngine();
    await engine.close();
    const { chat, waiting } = await world([engine], { engine: { models: [MODEL] }, timeouts: { noEngineMs: 200 } });
    const call = chat();
    await until(async () => (await waiting()) === 1);
    expect(refusal(await call)).toEqual([503, 'no_engine']);
  });

  it('a call for a model whose engines are drained hears that at once, and which they are', async () => {
    const all = await world([await fakeEngine(), await fakeEngine(undefined, ['other'])]);
    const [drained] = await all.engines();
    await all.admin(`/engines/${drained!.id}/drain?force`, { method: 'POST' });
    const got = await all.chat({}, named('p'));
    expect(refusal(got)).toEqual([503, 'no_engine']);
    for (const text of [got.text, (await all.ask('/programs/p/explain')).text])
      expect(text).toContain(`(${drained!.id}: drained)`);
  });

  it('a call waits for none that was down when it was drained', async () => {
    const all = await gone(await fakeEngine(), { timeouts: { noEngineMs: 600_000 } });
    const [drained] = await all.engines();
    await all.admin(`/engines/${drained!.id}/drain?force`, { method: 'POST' });
    expect(refusal(await all.chat())).toEqual([503, 'no_engine']);
  });

  it.each([
    ['Connect Timeout Error (attempted address: 10.0.0.3:8000)', 'Connect Timeout Error (attempted address: [...])'],
    ['/v1/models answered 401: engines[].apiKey is missing', '/v1/models answered 401: engines[].apiKey is missing'],
    ['/api/version answered 500', '/api/version answered 500'],
    ['http://gpu-1/v1/models is a web site', '[...] is a web site'],
  ])('no cause that is told has an address (%s)', (reason, told) => {
    const { message } = noEngine({ list: () => [{ id: 'a', trouble: { reason, sinceMs: 0 } } as never] });
    expect(message).toBe(`No engine is ready (a: ${told}).`);
  });

  it('and one cannot be reached, a call is sent when it can be again', async () => {
    const engine = await fakeEngine();
    const port = Number(new URL(engine.url).port);
    const all = await world([engine], { health: { failuresMax: 1000 } });
    await engine.close();
    const call = all.chat();
    await until(async () => (await all.waiting()) === 1);
    await serve((_, response) => void completion()(response, undefined as never, undefined as never), port);
    expect((await call).status).toBe(200);
  });
});
