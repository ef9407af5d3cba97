import { gzipSync } from 'node:zlib';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { JSON_TYPE, ask, chatBody, drainSocket, errorCode, type Got, lone } from './world.js';

/** Every refusal has a reason and a request id, in the shape of the requested API. */
function expectRefusal(got: Got, status: number, code: string): void {
  expect({ status: got.status, code: errorCode(got.text) }).toEqual({ status, code });
  expect(got.headers['x-maitred-reason']).toBe(code);
  expect(got.headers['x-request-id']).toMatch(/^[\w-]+$/);
}

async function post(url: string, body: string | Buffer, headers: Record<string, string> = JSON_TYPE): Promise<Got> {
  return ask(`${url}/v1/chat/completions`, { method: 'POST', headers, body });
}

describe('a request that cannot become a call', () => {
  it('hears where its JSON breaks', async () => {
    const { url } = await lone();
    expect((await post(url, '{"model":1,}')).text).toContain('position 11');
  });

  it.each([
    ['not JSON', '{"model":', JSON_TYPE, 400, 'invalid_json'],
    ['not UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), JSON_TYPE, 400, 'invalid_json'],
    ['an array', '[]', JSON_TYPE, 400, 'invalid_body'],
    ['null', 'null', JSON_TYPE, 400, 'invalid_body'],
    ['an empty body', '', JSON_TYPE, 400, 'missing_body'],
    ['only a byte-order mark', '\uFEFF', JSON_TYPE, 400, 'missing_body'],
    ['no content type', chatBody(), {}, 415, 'unsupported_media_type'],
    ['another content type', chatBody(), { 'content-type': 'text/plain' }, 415, 'unsupported_media_type'],
    ['another charset', chatBody(), { 'content-type': 'application/json; charset=latin1' }, 415, 'unsupported_media_type'], // prettier-ignore
    [
      'a compressed body',
      gzipSync(chatBody()),
      { ...JSON_TYPE, 'content-encoding': 'gzip' },
      415,
      'unsupported_media_type',
    ],
    ['no model', '{"messages":[{"role":"user","content":"x"}]}', JSON_TYPE, 400, 'invalid_body'],
    ['messages of the wrong type', chatBody({ messages: 'hello' }), JSON_TYPE, 400, 'invalid_body'],
    ['an unknown model', chatBody({ model: 'other' }), JSON_TYPE, 404, 'unknown_model'],
  ])('%s', async (_, body, headers, status, code) => {
    const { engine, url } = await lone();
    expectRefusal(await post(url, body, headers), status, code);
    expect(engine.seen).toEqual([]);
  });

  it.each([
    'application/json; charset=utf-8',
    'application/json;charset="UTF-8"',
    'Application/JSON',
    'application/json; x=y',
  ])('is taken as %s', async (type) => {
    const { url } = await lone();
    expect((await post(url, chatBody(), { 'content-type': type })).status).toBe(200);
  });

  it('is taken with a byte-order mark, which does not go on', async () => {
    const { engine, url } = await lone();
    expect((await post(url, `\uFEFF${chatBody()}`)).status).toBe(200);
    expect(engine.last.body.toString()).toBe(chatBody());
  });

  it('leaves the connection usable, and is counted', async () => {
    const { raw, metrics } = await lone();
    const bad = `POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 1\r\n\r\n{`;
    const text = await raw(bad, `GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`);
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 400', 'HTTP/1.1 200']);
    expect((await metrics()).get('maitred_calls_rejected_total{code="invalid_json"}')).toBe(1);
  });

  it('with a body over the limit: by its length before a byte is read, by its bytes when it is chunked', async () => {
    const { url, dial, raw } = await lone(undefined, { limits: { bodyBytes: 1024 } });
    expectRefusal(await post(url, chatBody({ pad: 'x'.repeat(2000) })), 413, 'body_too_large');
    const announced = `POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 99999999999\r\n\r\n`;
    const socket = dial();
    socket.write(announced);
    const first = await new Promise<string>((resolve) => socket.once('data', (chunk) => resolve(chunk.toString())));
    expect(first).toMatch(/^HTTP\/1\.1 413 /);
    const chunk = `1000\r\n${'x'.repeat(0x1000)}\r\n`;
    const chunked = `POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n`;
    expect(await raw(chunked, chunk, chunk, '0\r\n\r\n')).toMatch(/^HTTP\/1\.1 413 .*body_too_large/s);
  });

  it('with `Expect: 100-continue` is asked for its body only if it will be read', async () => {
    const { dial } = await lone(undefined, { limits: { bodyBytes: 1024 } });
    const head = (length: number) =>
      `POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nexpect: 100-continue\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: ${length}\r\n\r\n`;
    const socket = dial();
    const all = drainSocket(socket);
    socket.write(head(chatBody().length));
    socket.once('data', (chunk: string) => {
      expect(chunk).toMatch(/^HTTP\/1\.1 100 /);
      socket.write(chatBody());
    });
    expect(await all).toMatch(/HTTP\/1\.1 200 /);
    const refused = dial();
    refused.write(head(5000));
    const answer = await new Promise<string>((resolve) => refused.once('data', (chunk) => resolve(chunk.toString())));
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
  });

  it('whose body does not come in time', async () => {
    const { raw } = await lone(undefined, { timeouts: { bodyMs: 150 } });
    const text = await raw(
      'POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nx-request-id: mine\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"model"',
    );
    expect(text).toMatch(/^HTTP\/1\.1 408 /);
    expect(text).toMatch(/x-request-id: mine\r\n/i);
    expect(text).toMatch(/x-maitred-reason: request_timeout/i);
    expect(errorCode(text)).toBe('request_timeout');
  });

  it('and answered before its body has come is not answered again when that does not come', async () => {
    const { raw, metrics } = await lone(undefined, { timeouts: { headersMs: 100, bodyMs: 100 } });
    const text = await raw('POST /nowhere HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n{');
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 404']);
    const refusals = [...(await metrics())].filter(
      ([name, n]) => name.startsWith('maitred_calls_rejected_total') && n > 0,
    );
    expect(refusals).toEqual([['maitred_calls_rejected_total{code="unknown_path"}', 1]]);
  });

  it('whose headers do not come in time', async () => {
    const { raw } = await lone(undefined, { timeouts: { headersMs: 150 } });
    const text = await raw('POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nx-slow');
    expect(text).toMatch(/^HTTP\/1\.1 408 /);
    expect(text).toMatch(/x-request-id: [\w-]+\r\nx-maitred-reason: request_timeout/);
  });

  it('whose headers are too large, in bytes or in number', async () => {
    const { raw, metrics } = await lone();
    for (const flood of [`x-a: ${'a'.repeat(40_000)}\r\n`, 'a:b\r\n'.repeat(20_000)]) {
      const text = await raw(`GET /healthz HTTP/1.1\r\nhost: localhost\r\n${flood}\r\n`);
      expect(text).toMatch(/^HTTP\/1\.1 431 /);
      expect(text).toMatch(/x-maitred-reason: headers_too_large/);
      expect(errorCode(text)).toBe('headers_too_large');
    }
    expect((await metrics()).get('maitred_calls_rejected_total{code="headers_too_large"}')).toBe(2);
  });

  it.each([
    ['garbage', '\x16\x03\x01\x02\x00\r\n\r\n'],
    ['an unknown method', 'BREW / HTTP/1.1\r\nhost: localhost\r\n\r\n'],
    [
      'length and chunks at once',
      'POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['CONNECT', 'CONNECT a:1 HTTP/1.1\r\nhost: localhost\r\n\r\n'],
    ['no host', 'GET /healthz HTTP/1.1\r\nconnection: close\r\n\r\n'],
  ])('that is not HTTP as it should be: %s', async (_, bytes) => {
    const { raw } = await lone();
    const text = await raw(bytes);
    expect(text).toMatch(/^HTTP\/1\.1 400 /);
    expect(text).toMatch(/x-maitred-reason: bad_request/i);
    expect(text).toMatch(/x-request-id: /i);
    expect(errorCode(text)).toBe('bad_request');
  });

  it('whose client leaves while sending it leaves nothing behind', async () => {
    const { engine, dial, metrics } = await lone();
    const socket = dial();
    socket.write(
      'POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{',
    );
    await sleep(20);
    socket.destroy();
    await expect.poll(async () => (await metrics()).get('maitred_calls_rejected_total{code="client_gone"}')).toBe(1);
    expect((await metrics()).get('maitred_calls_rejected_total{code="bad_request"}')).toBeUndefined();
    expect(engine.seen).toEqual([]);
  });
});

describe('a path', () => {
  it('that lacks its /v1 is unknown, and the refusal names the one that is meant', async () => {
    const { ask } = await lone();
    const body = JSON.stringify({ model: 'm', messages: [] });
    const got = await ask('/chat/completions?x=1', { method: 'POST', body });
    expectRefusal(got, 404, 'unknown_path');
    expect(got.text).toContain('/v1/chat/completions');
    expect((await ask('/nothing')).text).not.toContain('/v1');
  });

  it.each([
    ['/v1/chat/completion', 404, 'Did you mean /v1/chat/completions?'],
    ['/v1/embedding/', 404, 'Did you mean /v1/embeddings?'],
    ['/v1/re-rank', 404, 'Did you mean /v1/rerank?'],
    ['/v1/v1/models', 404, 'has /v1 twice'],
    ['/v1/load_lora_adapter', 403, 'passthrough.paths'],
    ['/v1/files', 403, 'batches.folder'],
  ])('that is not passed on, and the refusal says what is meant: %s', async (path, status, hint) => {
    const { ask } = await lone();
    const got = await ask(path, { method: 'POST', body: '{}' });
    expectRefusal(got, status, status === 404 ? 'unknown_path' : 'path_not_allowed');
    expect(got.text).toContain(hint);
  });

  it.each(['/v1', '/admin', '/v1x/models', '//v2', '/v1\\..\\secret'])('%s is unknown', async (path) => {
    const { ask } = await lone();
    expectRefusal(await ask(path), 404, 'unknown_path');
    expectRefusal(
      await ask(path, { method: 'POST', headers: { 'content-type': 'garbage' }, body: 'x' }),
      404,
      'unknown_path',
    );
  });

  it.each([
    '/v1/../secret',
    '/v1/./models',
    '/v1/%2e%2e/secret',
    '/v1/..%2fsecret',
    '/v1/%252e%252e/secret',
    '/v1/..%5csecret',
    '/v1/..;/secret',
    '/v1/a%00b',
    '/v1/%zz',
  ])('%s is never forwarded', async (path) => {
    const { engine, raw } = await lone();
    const text = await raw(`GET ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`);
    expect(text).toMatch(/^HTTP\/1\.1 400 /);
    expect(errorCode(text)).toBe('invalid_path');
    expect(engine.seen).toEqual([]);
  });

  it('may have dots, percent signs and a query that are none of these', async () => {
    const { engine, raw } = await lone(undefined, { passthrough: { paths: ['/v1/*'] } });
    for (const path of ['/v1/a..b/...', '/v1/100%25', '/v1/x%20y?z=../..', '/v1/.well']) {
      const text = await raw(`GET ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`);
      expect(text).toMatch(/^HTTP\/1\.1 200 /);
      expect(engine.last.url).toBe(path);
    }
  });

  it.each([
    ['GET', '/v1/chat/completions', 'POST, OPTIONS', 'POST'],
    ['POST', '/healthz', 'GET, HEAD, OPTIONS', 'GET'],
    ['PATCH', '/engines', 'GET, POST, HEAD, OPTIONS', 'GET or POST'],
    ['TRACE', '/v1/chat/completions', 'POST, OPTIONS', 'POST'],
    ['QUERY', '/v1/completions', 'POST, OPTIONS', 'POST'],
    ['POST', '/v1/responses/compact', 'GET, DELETE, HEAD, OPTIONS', 'GET or DELETE'],
  ])('tells the methods that it has: %s %s', async (method, path, allow, use) => {
    const { ask } = await lone();
    const got = await ask(path, { method });
    expect(got.status).toBe(405);
    expect(got.headers['allow']).toBe(allow);
    expect(got.headers['x-maitred-reason']).toBe('method_not_allowed');
    expect(got.text).toContain(`"Use ${use} for this path, not ${method}."`);
  });
});

describe('a request id', () => {
  it('is kept when it is sane, and made when it is not', async () => {
    const { engine, chat } = await lone();
    const kept = await chat({}, { 'x-request-id': 'abc-123' });
    expect(kept.headers['x-request-id']).toBe('abc-123');
    expect(engine.last.headers['x-request-id']).toBe('abc-123');
    for (const bad of ['', 'a b', 'x'.repeat(200)]) {
      const made = await chat({}, { 'x-request-id': bad });
      expect(made.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
      expect(engine.last.headers['x-request-id']).toBe(made.headers['x-request-id']);
    }
  });
});
