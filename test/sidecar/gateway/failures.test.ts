import type { ServerResponse } from 'node:http';
import { createServer } from 'node:net';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import {
  DONE_EVENT,
  STREAM,
  TEXT_EVENT,
  ask,
  chat,
  completion,
  completionBody,
  errorCode,
  fakeEngine,
  metrics,
  queueOf,
  stream,
  until,
  world,
  type Answer,
  type FakeEngine,
} from './world.js';

/** Never ejects, so that each test sees its own failure only. */
const PATIENT = { health: { failuresMax: 1000 } };
const once3 = { limits: { attemptsMax: 3 } };

/** Two engines alike: whichever is asked first, once, behaves badly, and from then on is the bad one. */
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

const status =
  (code: number, headers: Record<string, string> = {}): Answer =>
  (response) => {
    response.writeHead(code, { 'content-type': 'application/json', ...headers });
    response.end('{"error":{"message":"engine says no"}}');
  };
const reset: Answer = (response) => void response.destroy();
const hang: Answer = () => undefined;
const half: Answer = (response) => {
  response.setHeader('content-type', 'application/json');
  response.write(JSON.stringify(completionBody()).slice(0, 30), () => response.destroy());
};
const short: Answer = (response) => {
  const body = JSON.stringify(completionBody());
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length + 10 });
  response.write(body, () => response.destroy());
};
const long: Answer = (response) => {
  const body = JSON.stringify(completionBody());
  response.socket?.end(
    `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length - 5}\r\n\r\n${body}`,
  );
};
const earlyEof: Answer = (response) => {
  response.socket?.end(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n{"choices":[`);
};
const html: Answer = (response) => {
  response.setHeader('content-type', 'text/html');
  response.end('<html>Bad luck</html>');
};
const notHttp: Answer = (response) => void response.socket?.end('\x00\x01garbage\r\n\r\n');
const emptyStream: Answer = (response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end();
};
const badGzip: Answer = (response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
  response.end('not gzip');
};
const oddEncoding: Answer = (response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'pack200' });
  response.end('whatever');
};

const broken: readonly (readonly [string, Answer, string])[] = [
  ['resets', reset, 'engine_failed'],
  ['answers 500', status(500), 'engine_failed'],
  ['answers 502', status(502), 'engine_failed'],
  ['answers 504', status(504), 'engine_failed'],

  ['sends half an answer', half, 'engine_failed'],
  ['sends less than its content length', short, 'engine_failed'],
  ['sends more than its content length', long, 'engine_answer_invalid'],
  ['ends early without a length', earlyEof, 'engine_answer_invalid'],
  ['sends HTML', html, 'engine_answer_invalid'],
  ['does not speak HTTP', notHttp, 'engine_failed'],
  ['sends what is not gzip', badGzip, 'engine_answer_invalid'],
  ['sends an unknown encoding', oddEncoding, 'engine_answer_invalid'],
];

describe('an engine that fails before the first byte', () => {
  it.each(broken)('%s: another engine answers', async (_, answer) => {
    for (const streamed of [false, true]) {
      const [a, b, good] = await goodAndBad(answer, streamed ? stream() : completion());
      const { url, adminUrl } = await world([a, b], PATIENT);
      const got = await chat(url, { stream: streamed });
      expect([got.status, got.headers['x-maitred-engine'], got.headers['x-maitred-reason']]).toEqual([
        200,
        good().id,
        'retried',
      ]);
      expect(got.text).toBe(streamed ? STREAM.join('') : JSON.stringify(completionBody()));
      expect([a.seen.length, b.seen.length]).toEqual([1, 1]);
      expect((await metrics(adminUrl)).get('maitred_call_retries_total')).toBe(1);
    }
  });

  it.each(broken)('%s: the client hears of it after as many tries as allowed', async (_, answer, code) => {
    const engine = await fakeEngine(answer);
    const { url } = await world([engine], { ...PATIENT, ...once3 });
    for (const streamed of [false, true]) {
      engine.seen.length = 0;
      const got = await chat(url, { stream: streamed });
      expect([got.status, errorCode(got.text), got.headers['x-maitred-reason']]).toEqual([502, code, code]);
      expect(engine.seen).toHaveLength(3);
      expect(got.text).not.toContain(engine.id);
    }
  });

  it('refuses connections: another engine answers, and it is left alone', async () => {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const dead = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
    server.close();
    const good = await fakeEngine();
    const { url } = await world([dead, good], { health: { timeoutMs: 500 } });
    await until(async () => (await ask(`${url}/readyz`)).status === 200);
    expect((await chat(url)).headers['x-maitred-engine']).toBe(good.id);
  });

  it('dies after it has joined: another engine answers', async () => {
    const bad = await fakeEngine();
    const good = await fakeEngine();
    const { url } = await world([bad, good], PATIENT);
    await bad.close();
    for (let i = 0; i < 4; i++) {
      const got = await chat(url);
      expect([got.status, got.headers['x-maitred-engine']]).toEqual([200, good.id]);
    }
  });

  it('hangs: another engine answers; with no other, 504', async () => {
    const [a, b, good] = await goodAndBad(hang, completion());
    const quick = { ...PATIENT, timeouts: { firstByteMs: 100 }, limits: { attemptsMax: 2 } };
    const both = await world([a, b], quick);
    expect((await chat(both.url)).headers['x-maitred-engine']).toBe(good().id);
    await (good() === a ? b : a).last.abandoned;
    const alone = await world([await fakeEngine(hang)], quick);
    const got = await chat(alone.url);
    expect([got.status, errorCode(got.text)]).toEqual([504, 'engine_timeout']);
    await expect.poll(() => alone.logs.find((line) => line['msg'] === 'call')?.['outcome']).toBe('timed_out');
  });

  it('hangs after its headers: the first byte is that of the body', async () => {
    const [a, b] = await goodAndBad((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.flushHeaders();
    }, stream());
    const { url } = await world([a, b], { ...PATIENT, timeouts: { firstByteMs: 100, idleMs: 60_000 } });
    expect((await chat(url, { stream: true })).text).toBe(STREAM.join(''));
  });

  it('has only sent comments: another engine answers, in the same stream', async () => {
    const [a, b] = await goodAndBad((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(': keep-alive\n\n', () => response.destroy());
    }, stream());
    const { url } = await world([a, b], PATIENT);
    const { text } = await chat(url, { stream: true });
    expect(text.replaceAll(/^:.*\n\n/gm, '')).toBe(STREAM.join(''));
  });

  it('ends its stream before the first event: another engine answers', async () => {
    const [a, b] = await goodAndBad(emptyStream, stream());
    const { url } = await world([a, b], PATIENT);
    expect((await chat(url, { stream: true })).text).toBe(STREAM.join(''));
  });

  it('sends more than is taken: 502 at once, since it would do so again', async () => {
    const engine = await fakeEngine(completion({ pad: 'x'.repeat(5000) }));
    const { url } = await world([engine], { limits: { answerBytes: 1024 } });
    const got = await chat(url);
    expect([got.status, errorCode(got.text)]).toEqual([502, 'engine_answer_too_large']);
    expect(engine.seen).toHaveLength(1);
  });
});

describe('an engine without room', () => {
  it.each([429, 503])('(%i) is left alone for as long as it says while others are tried', async (code) => {
    const full = await fakeEngine(status(code, { 'retry-after': '0.3' }));
    const { url, adminUrl } = await world([full], queueOf(250));
    const start = performance.now();
    const got = await chat(url);
    expect([got.status, errorCode(got.text)]).toEqual([408, 'queue_timeout']);
    expect(performance.now() - start).toBeGreaterThanOrEqual(240);
    expect(full.seen).toHaveLength(1);
    expect((await metrics(adminUrl)).get('maitred_calls_ended_total{outcome="timed_out"}')).toBe(1);
  });

  it('gets the call again when its rest is over', async () => {
    let busy = 2;
    const engine = await fakeEngine((response, seen, request) => {
      if (busy-- > 0) void status(503, { 'retry-after': '0.05' })(response, seen, request);
      else void completion()(response, seen, request);
    });
    const { url } = await world([engine]);
    const got = await chat(url);
    expect([got.status, got.headers['x-maitred-reason']]).toEqual([200, 'retried']);
    expect(engine.seen).toHaveLength(3);
  });

  it('leaves the call to another at once, and is not counted as broken', async () => {
    const [a, b, free] = await goodAndBad(status(429), completion());
    const { url, adminUrl } = await world([a, b], { health: { failuresMax: 1 } });
    for (let i = 0; i < 3; i++) expect((await chat(url)).headers['x-maitred-engine']).toBe(free().id);
    expect((await metrics(adminUrl)).get(`maitred_engine_up{engine="${(free() === a ? b : a).id}"}`)).toBe(1);
  });
});

describe('an engine that fails after the first byte', () => {
  const begun = (then: (response: ServerResponse) => void): Answer => {
    return (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(TEXT_EVENT, () => then(response));
    };
  };
  const ways: readonly (readonly [string, Answer, string])[] = [
    ['resets', begun((response) => response.destroy()), 'engine_failed'],
    ['ends early', begun((response) => response.end()), 'engine_failed'],
    ['ends in half an event', begun((response) => response.end('data: {"choi')), 'engine_failed'],
    ['falls silent', begun(() => undefined), 'engine_timeout'],
  ];

  it.each(ways)('%s: the stream ends with an error event, and there is no second answer', async (_, answer, code) => {
    const [a, b, good] = await goodAndBad(answer, stream());
    const { url, logs } = await world([a, b], { ...PATIENT, timeouts: { idleMs: 100 } });
    const { status: sent, text } = await chat(url, { stream: true });
    expect(sent).toBe(200);
    expect(text).toMatch(/^data: \{"choices".*\n\ndata: \{"error":\{.*\}\}\n\n$/);
    expect(errorCode(text)).toBe(code);
    expect(text).not.toContain('[DONE]');
    expect(good().seen).toEqual([]);
    await expect
      .poll(() => logs.find((line) => line['msg'] === 'call'))
      .toMatchObject({ code, status: 200, attempts: 1 });
  });

  it('but had said that it was done has done its work', async () => {
    const engine = await fakeEngine((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(TEXT_EVENT + DONE_EVENT, () => response.destroy());
    });
    const { url, logs } = await world([engine]);
    expect((await chat(url, { stream: true })).text).toBe(TEXT_EVENT + DONE_EVENT);
    await expect.poll(() => logs.find((line) => line['msg'] === 'call')?.['outcome']).toBe('completed');
  });

  it('is not silent while it sends slowly', async () => {
    const engine = await fakeEngine(async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (let i = 0; i < 8; i++) {
        response.write(TEXT_EVENT);
        await new Promise((resolve) => setTimeout(resolve, 40));
      }
      response.end(DONE_EVENT);
    });
    const { url } = await world([engine], { timeouts: { idleMs: 150 } });
    expect((await chat(url, { stream: true })).text).toContain('[DONE]');
  });
});

describe('an engine that fails again and again', () => {
  it('is ejected, and taken back when it is well', async () => {
    const [a, b, good] = await goodAndBad(status(500), completion());
    const { url } = await world([a, b], { health: { failuresMax: 2, backoffMs: 50, intervalMs: 50 } });
    for (let i = 0; i < 4; i++) expect((await chat(url)).status).toBe(200);
    const bad = good() === a ? b : a;
    expect(bad.seen.length).toBeLessThan(4);
    bad.answer = completion();
    const served = bad.seen.length;
    await until(async () => {
      await Promise.all([chat(url), chat(url)]);
      return bad.seen.length > served;
    });
  });

  it('and is the only one: its calls wait for it to come back', async () => {
    const engine = await fakeEngine(reset);
    const { url } = await world([engine], { health: { failuresMax: 1, backoffMs: 100 }, limits: { attemptsMax: 5 } });
    const waiting = chat(url);
    await until(() => engine.seen.length >= 1);
    engine.answer = completion();
    expect((await waiting).status).toBe(200);
  });
});

describe('without engines', () => {
  it('calls are refused for now, in the shape of their API', async () => {
    const { url } = await world([]);
    const got = await chat(url);
    expect([got.status, errorCode(got.text)]).toEqual([503, 'no_engine']);
    expect(Number(got.headers['retry-after'])).toBeGreaterThan(0);
  });
});
