import { once } from 'node:events';
import { describe, expect } from 'vitest';
import {
  rawChat,
  ONE_AT_A_TIME,
  rawRequest,
  DONE_EVENT,
  JSON_TYPE,
  TEXT_EVENT,
  begun,
  chatBody,
  eitherWay,
  hang,
  completion,
  configOf,
  drainSocket,
  errorCode,
  fakeEngine,
  gate,
  refusal,
  until,
  world,
  lone,
  held,
  it,
  type Answer,
} from './world.js';
import { batchOf, inFolder, lineOf } from '../batches/service.js';

/** Streams one event, pauses, and ends. */
const slowStream = (opened: Promise<void>) =>
  begun(async (response) => {
    await opened;
    response.end(DONE_EVENT);
  });

describe('a gateway that drains', () => {
  it('finishes what runs and what waits, refuses what is new, then closes', async () => {
    const { opened, open } = gate();
    const { gateway, calls, openChat, chat, waiting, ask } = await lone(slowStream(opened), {
      admission: { window: 1 },
    });
    const running = await openChat({ stream: true });
    const queued = chat({ stream: true });
    await until(async () => (await waiting()) === 1);
    const drained = gateway.drain();
    let over = false;
    void drained.then(() => (over = true));
    const refused = await chat();
    expect(refusal(refused)).toEqual([503, 'draining']);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect(refused.headers['connection']).toBe('close');
    expect((await ask('/readyz')).status).toBe(503);
    expect((await ask('/healthz')).status).toBe(200);
    expect(over).toBe(false);
    open();
    expect(await running.body.text()).toBe(TEXT_EVENT + DONE_EVENT);
    expect((await queued).text).toBe(TEXT_EVENT + DONE_EVENT);
    await drained;
    await expect(ask('/healthz')).rejects.toThrow();
    expect(calls().map((line) => line['outcome'])).toEqual(['completed', 'completed']);
  });

  it('takes the lines of batches back that wait, as they are asked after the next start', async () => {
    const { engine, open, gateway, url, waiting } = await held({ ...ONE_AT_A_TIME, ...inFolder() });
    await batchOf(url, [lineOf('a'), lineOf('b')]);
    await until(async () => (await waiting()) === 1);
    const drained = gateway.drain();
    open();
    await drained;
    expect(engine.seen).toHaveLength(1);
  });

  it('says so on connections that were kept alive', async () => {
    const { opened, open } = gate();
    const { gateway, openChat, dial } = await lone(slowStream(opened));
    const running = await openChat({ stream: true });
    const socket = dial();
    let text = '';
    socket.on('data', (chunk) => (text += String(chunk)));
    socket.write('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n');
    await until(() => text.includes('"ok"'));
    const drained = gateway.drain();
    socket.write(rawChat());
    await new Promise((resolve) => socket.on('close', resolve));
    expect(text).toMatch(/HTTP\/1\.1 503 .*connection: close/is);
    open();
    await running.body.text();
    await drained;
  });

  it('ends what is still there when its time is over, and says so', async () => {
    const { opened } = gate();
    const { engine, gateway, calls, chat, waiting } = await lone(eitherWay(slowStream(opened), hang), {
      timeouts: { drainMs: 100 },
      admission: { window: 2 },
    });
    const streaming = chat({ stream: true });
    const whole = chat();
    await until(() => engine.seen.length === 2);
    const queued = chat();
    await until(async () => (await waiting()) === 1);
    await gateway.drain();
    const [cut, refused, last] = await Promise.all([streaming, whole, queued]);
    expect(cut.text).toMatch(/^data: \{"choices".*\n\ndata: \{"error":\{.*"code":"draining"\}\}\n\n$/);
    expect(refusal(refused)).toEqual([503, 'draining']);
    await Promise.all(engine.seen.map((seen) => seen.abandoned));
    expect(last.status).toBe(503);
    // The waiting call is not given the slot of one that was cut off before it.
    const ends = calls().map((line) => [line['outcome'], line['engine'] !== undefined]);
    expect(ends.sort()).toEqual([
      ['drained', false],
      ['drained', true],
      ['drained', true],
    ]);
  });

  it('answers a call that waits for the end of an earlier answer on its connection', async () => {
    const { engine, gateway, dial } = await lone(eitherWay(slowStream(gate().opened), hang), {
      timeouts: { drainMs: 100 },
    });
    const socket = dial();
    const text = drainSocket(socket);
    socket.write(rawChat(chatBody({ stream: true })) + rawChat());
    await until(() => engine.seen.length === 2);
    await gateway.drain();
    expect((await text).match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 503']);
  });

  it('waits for what is passed through', async () => {
    const { engine, open, gateway, post } = await held({}, (response) => void response.end('spoken'));
    const passing = post('/v1/audio/speech', '{}');
    await until(() => engine.seen.length === 1);
    const drained = gateway.drain();
    open();
    expect((await passing).text).toBe('spoken');
    await drained;
  });

  it('lets what is passed through go to another engine, until its time is over', async () => {
    const { opened, open } = gate();
    const { opened: over, open: answer } = gate();
    const first: Answer = async (response) => {
      await opened;
      response.destroy();
    };
    const second: Answer = async (response) => {
      await over;
      response.end('spoken');
    };
    const engines = [await fakeEngine(), await fakeEngine()];
    const seen = () => engines.flatMap((engine) => engine.seen).length;
    for (const engine of engines) engine.answer = (...asked) => (seen() === 1 ? first : second)(...asked);
    const { gateway, post } = await world(engines);
    const passing = post('/v1/audio/speech', '{}');
    await until(() => seen() === 1);
    const drained = gateway.drain();
    open();
    await until(() => seen() === 2);
    answer();
    expect((await passing).text).toBe('spoken');
    await drained;
  });

  it('ends what is passed through when its time is over, and what comes after that', async () => {
    const engines = [await fakeEngine(hang), await fakeEngine(hang)];
    const seen = () => engines.flatMap((engine) => engine.seen).length;
    const { gateway, post, dial } = await world(engines, { timeouts: { drainMs: 50 } });
    const passing = post('/v1/audio/speech', '{}');
    await until(() => seen() === 1);
    const socket = dial();
    const text = drainSocket(socket);
    const headers = { ...JSON_TYPE, expect: '100-continue' };
    const [head = '', body = ''] = rawRequest('POST', '/v1/audio/speech', headers, '{}').split(/(?=\{)/);
    socket.write(head);
    await once(socket, 'data');
    const drained = gateway.drain();
    expect(refusal(await passing)).toEqual([503, 'draining']);
    socket.write(body);
    expect(errorCode(await text)).toBe('draining');
    await drained;
    expect(seen()).toBe(1);
  });

  it('closes at once when it is idle, and twice as well as once', async ({ one: { gateway } }) => {
    await Promise.all([gateway.drain(), gateway.drain(), gateway.close()]);
    await gateway.close();
  });
});

describe('a reload', () => {
  it('changes what it can without losing a call', async () => {
    const { opened, open } = gate();
    const old = await fakeEngine(slowStream(opened));
    const young = await fakeEngine(completion());
    const { gateway, openChat, chat, waiting, ask } = await world([old], { admission: { window: 1 } });
    const running = await openChat({ stream: true });
    const queued = chat();
    await until(async () => (await waiting()) === 1);
    gateway.reload(
      configOf([young], {
        admission: { window: 1 },
        limits: { bodyBytes: 1024 },
        policy: { name: 'fcfs-window' },
        balancer: { name: 'sticky' },
      }),
    );
    expect((await queued).headers['x-maitred-engine']).toBe(young.id);
    expect((await chat({ pad: 'x'.repeat(2000) })).status).toBe(413);
    open();
    expect(await running.body.text()).toBe(TEXT_EVENT + DONE_EVENT);
    expect((await chat()).headers['x-maitred-engine']).toBe(young.id);
    expect((await ask('/config')).json()).toMatchObject({ limits: { bodyBytes: 1024 } });
  });

  it('of what they do not depend on leaves windows alone', async () => {
    const engines = [await fakeEngine(), await fakeEngine()];
    const overrides = { balancer: { name: 'least-loaded' }, admission: { windowInitial: 2 } };
    const { gateway, engines: read, chat } = await world(engines, overrides);
    const windows = async () => (await read()).map(({ window }) => window ?? 0);
    while (!(await windows()).some((window) => window > 2)) await Promise.all(Array.from({ length: 32 }, () => chat()));
    const before = await windows();
    gateway.reload(configOf(engines, { ...overrides, log: { level: 'warn' } }));
    expect(await windows()).toEqual(before);
    gateway.reload(configOf(engines, { ...overrides, admission: { windowInitial: 3 } }));
    expect(await windows()).toEqual([3, 3]);
  });
});
