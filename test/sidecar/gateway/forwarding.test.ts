import { QUICK, ejections } from './misbehaving.js';
import { deflateSync, brotliCompressSync, gzipSync } from 'node:zlib';
import { describe, expect } from 'vitest';
import {
  DONE_EVENT,
  JSON_TYPE,
  MODEL,
  STOP_EVENT,
  STREAM,
  TEXT_EVENT,
  USAGE_EVENT,
  chatBody,
  completionBody,
  errorCode,
  fakeEngine,
  gate,
  stream,
  world,
  lone,
  replies,
  heard,
  it,
} from './world.js';

describe('a request on its way to the engine', () => {
  it('keeps every byte of its body when nothing must change', async ({ one: { engine, ask } }) => {
    const body = ` { "model":"${MODEL}", "messages":[{"role":"user","content":"\\u00e9\\/"}], "x":12345678901234567890, "y":1e400, "x":1 }\n`;
    await ask('/v1/chat/completions?beta=1&x=%20', { headers: JSON_TYPE, body });
    expect(engine.last.body.toString()).toBe(body);
    expect(engine.last.url).toBe('/v1/chat/completions?beta=1&x=%20');
  });

  it('asks for usage when it streams and the client did not, and changes nothing else', async () => {
    const { engine, chat } = await lone(stream());
    await chat({ stream: true });
    const added = '"stream_options":{"include_usage":true},';
    expect(engine.last.body.toString()).toBe(chatBody({ stream: true }).replace('{', `{${added}`));
    await chat({ stream: true, stream_options: { include_usage: true } });
    expect(engine.last.body.toString()).toBe(chatBody({ stream: true, stream_options: { include_usage: true } }));
    const options = { include_usage: false, other: 1, deep: JSON.parse('['.repeat(500) + ']'.repeat(500)) as unknown };
    await chat({ stream: true, stream_options: options, z: 1 });
    const asked = chatBody({ stream: true, stream_options: { ...options, include_usage: true }, z: 1 });
    expect(engine.last.body.toString()).toBe(asked);
  });

  it('keeps its headers but those of the connection, and asks for no compression', async ({ one: { engine, raw } }) => {
    const body = chatBody();
    await raw(
      [
        'POST /v1/chat/completions HTTP/1.1',
        'Host: gateway.example',
        'Content-Type: application/json; charset=utf-8',
        `Content-Length: ${body.length}`,
        'Connection: close, X-Private',
        'X-Private: 1',
        'Keep-Alive: timeout=5',
        'TE: trailers',
        'Proxy-Authorization: Basic x',
        'Upgrade: websocket',
        'Accept-Encoding: gzip, br',
        'Authorization: Bearer client',
        'Anthropic-Beta: a',
        'Anthropic-Beta: b',
        'X-Unknown: kept',
        'Cookie: a=b',
        '',
        body,
      ].join('\r\n'),
    );
    const { headers } = engine.last;
    for (const name of ['x-private', 'te', 'proxy-authorization', 'upgrade', 'keep-alive'])
      expect(headers).not.toHaveProperty(name);
    expect(headers).toMatchObject({
      host: engine.id,
      'content-type': 'application/json; charset=utf-8',
      'content-length': String(body.length),
      'accept-encoding': 'identity',
      authorization: 'Bearer client',
      'anthropic-beta': 'a, b',
      'x-unknown': 'kept',
      cookie: 'a=b',
    });
  });

  it('carries the engine’s own key instead of the client’s', async () => {
    const engine = await fakeEngine();
    const { chat } = await world([engine], { engines: [{ url: engine.url, kind: 'openai', apiKey: 'engine-key' }] });
    await chat({}, { authorization: 'Bearer client', 'x-api-key': 'client' });
    expect(engine.last.headers.authorization).toBe('Bearer engine-key');
    expect(engine.last.headers).not.toHaveProperty('x-api-key');
  });

  it('goes below the path of the engine’s URL', async () => {
    const engine = await fakeEngine();
    const { chat } = await world([engine], {
      engines: [{ url: `${engine.url}/deep/path`, kind: 'openai', models: [MODEL] }],
    });
    await expect.poll(async () => (await chat()).status).not.toBe(503);
    expect(engine.seen.some((seen) => seen.url === '/deep/path/v1/chat/completions')).toBe(true);
  });
});

describe('an answer on its way to the client', () => {
  it('is passed on as it came, with what the gateway did', async () => {
    const body = JSON.stringify(completionBody()).replace('{', '{ "n":12345678901234567890, ');
    const { engine, chat } = await lone((response) => {
      response.writeHead(
        201,
        [
          ['content-type', 'application/json'],
          ['x-engine', 'kept'],
          ['x-maitred-program', 'another'],
          ['set-cookie', 'a=1'],
          ['set-cookie', 'b=2'],
          ['connection', 'keep-alive, x-hop'],
          ['x-hop', '1'],
          ['proxy-authenticate', 'Basic'],
        ].flat(),
      );
      response.end(body);
    });
    const got = await chat({}, { 'x-maitred-program': 'mine' });
    expect([got.status, got.text]).toEqual([201, body]);
    expect(got.headers).toMatchObject({
      'x-engine': 'kept',
      'set-cookie': ['a=1', 'b=2'],
      'x-maitred-program': 'mine',
      'x-maitred-engine': engine.id,
      'x-maitred-level': '0',
      'x-maitred-queue-ms': '0',
      'x-maitred-reason': 'direct',
    });
    expect(got.headers['x-maitred-call']).toBeTruthy();
    for (const name of ['x-hop', 'proxy-authenticate']) expect(got.headers).not.toHaveProperty(name);
  });

  it.each([400, 401, 404, 422])('is passed on when the engine refuses the request with %i', async (status) => {
    const said = ' {"error":{"message":"as it came"}}';
    const { engine, chat } = await lone(replies(status, said, { 'content-type': 'text/weird' }));
    for (const streamed of [false, true]) {
      const got = await chat({ stream: streamed });
      expect([got.status, got.text, got.headers['content-type']]).toEqual([status, said, 'text/weird']);
      expect(got.headers['x-maitred-engine']).toBe(engine.id);
    }
    expect(engine.seen).toHaveLength(2);
  });

  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ])('is decompressed when an engine sends %s unasked', async (encoding, compress) => {
    const whole = JSON.stringify(completionBody());
    const { chat } = await lone((response, seen) => {
      const streams = seen.body.includes('"stream":true');
      response.writeHead(200, {
        'content-type': streams ? 'text/event-stream' : 'application/json',
        'content-encoding': encoding,
      });
      response.end(compress(streams ? STREAM.join('') : whole));
    });
    const got = await chat();
    expect([got.status, got.text]).toEqual([200, whole]);
    expect(got.headers).not.toHaveProperty('content-encoding');
    const streamed = await chat({ stream: true });
    expect(streamed.text).toBe(STREAM.join(''));
    expect(streamed.headers).not.toHaveProperty('content-encoding');
  });
});

describe('a streamed answer', () => {
  it('goes out event by event as it comes, to the byte', async () => {
    const { opened, open } = gate();
    const parts = [
      ': hi\r\n\r\n',
      `event: x\r\nid: 1\r\n${TEXT_EVENT}`,
      TEXT_EVENT.replaceAll('\n', '\r\n'),
      STOP_EVENT,
      DONE_EVENT,
    ];
    const { openChat } = await lone(async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'x-engine': 'kept' });
      response.write(parts[0]);
      response.write(parts[1]);
      await opened;
      for (const part of parts.slice(2)) response.write(part);
      response.end();
    });
    const { statusCode, headers, body } = await openChat({ stream: true });
    expect(statusCode).toBe(200);
    expect(headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'x-engine': 'kept',
      'x-maitred-reason': 'direct',
    });
    expect(await heard(body, (text) => text === `${parts[0]}${parts[1]}` && open())).toBe(parts.join(''));
  });

  it('hides the usage event that the client did not ask for, and only that', async () => {
    const parts = [TEXT_EVENT, STOP_EVENT, USAGE_EVENT, DONE_EVENT];
    const { calls, chat } = await lone(stream(parts));
    expect((await chat({ stream: true })).text).toBe([TEXT_EVENT, STOP_EVENT, DONE_EVENT].join(''));
    expect((await chat({ stream: true, stream_options: { include_usage: true } })).text).toBe(parts.join(''));
    await expect.poll(() => calls()).toHaveLength(2);
    for (const line of calls())
      expect(line).toMatchObject({ prompt_tokens: 7, output_tokens: 3, outcome: 'completed' });
  });

  it('is taken as a whole answer when the engine does not stream', async ({ one: { chat } }) => {
    const got = await chat({ stream: true });
    expect(got.json()).toEqual(completionBody());
  });
});

describe('other APIs', () => {
  it('break in their own shape', async () => {
    const { ask } = await lone((response, seen) => {
      const first =
        seen.url === '/v1/messages'
          ? 'event: message_start\ndata: {"type":"message_start","message":{"id":"m"}}\n\n'
          : 'event: response.created\ndata: {"type":"response.created","sequence_number":0,"response":{"id":"r"}}\n\n';
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(first, () => response.destroy());
    });
    const message = { model: MODEL, max_tokens: 5, stream: true, messages: [{ role: 'user', content: 'hi' }] };
    const anthropic = await ask('/v1/messages', { headers: JSON_TYPE, body: JSON.stringify(message) });
    expect(anthropic.text).toMatch(/^event: message_start\n.*\n\nevent: error\ndata: \{"type":"error"/s);
    const input = { model: MODEL, stream: true, input: 'hi' };
    const responses = await ask('/v1/responses', { headers: JSON_TYPE, body: JSON.stringify(input) });
    expect(responses.text).toMatch(
      /^event: response.created\n.*event: response.failed\ndata: \{"type":"response.failed"/s,
    );
    expect(errorCode(responses.text)).toBeTruthy();
  });
});

describe('a redirect of an engine', () => {
  it('is passed on as an answer, leads here where it led to the engine, and nowhere where it led elsewhere', async () => {
    const engine = await fakeEngine();
    const all = await world([engine], QUICK);
    for (const location of [`${engine.url}/v1/elsewhere?y=2`, '/x', 'https://other.example/', '//other/', '/\\other']) {
      engine.answer = replies(307, '', { location });
      const got = await all.chat();
      const isHere = !location.includes('other');
      expect([got.status, got.headers.location]).toEqual([307, isHere ? location.replace(engine.url, '') : undefined]);
    }
    expect([engine.seen.length, ejections(all)]).toEqual([5, 0]);
  });
});
