import { once } from 'node:events';
import { gzipSync } from 'node:zlib';
import { describe, expect } from 'vitest';
import {
  CHAT,
  JSON_TYPE,
  MODEL,
  bearer,
  chatBody,
  drainSocket,
  fakeEngine,
  errorCode,
  keysOf,
  type Got,
  lone,
  rawChat,
  rawRequest,
  world,
  it,
} from './world.js';

/** Every refusal has a reason and a request id, in the shape of the requested API. */
function expectRefusal(got: Got, status: number, code: string): void {
  expect({ status: got.status, code: errorCode(got.text) }).toEqual({ status, code });
  expect(got.headers['x-maitred-reason']).toBe(code);
  expect(got.headers['x-request-id']).toMatch(/^[\w-]+$/);
}

/** The same of the bytes of an answer. */
function expectRawRefusal(text: string, status: number, code: string): void {
  expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  expect(text).toMatch(new RegExp(`x-maitred-reason: ${code}`, 'i'));
  expect(text).toMatch(/x-request-id: [\w-]+\r\n/i);
  expect(errorCode(text)).toBe(code);
}

const type = (text: string) => ({ 'content-type': text });
const statuses = (text: string) => text.match(/HTTP\/1\.1 \d+/g);
const CLOSE = { connection: 'close' };
const bodyOf = (bytes: string) => ({ ...JSON_TYPE, 'content-length': bytes });

describe('a request that cannot become a call', () => {
  it('hears where its JSON breaks', async ({ one: { post } }) => {
    expect((await post(CHAT, '{"model":1,}')).text).toContain('position 11');
  });

  it.each([
    ['not JSON', '{"model":', JSON_TYPE, 400, 'invalid_json'],
    ['not UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), JSON_TYPE, 400, 'invalid_json'],
    ['an array', '[]', JSON_TYPE, 400, 'invalid_body'],
    ['null', 'null', JSON_TYPE, 400, 'invalid_body'],
    ['an empty body', '', JSON_TYPE, 400, 'missing_body'],
    ['only a byte-order mark', '\uFEFF', JSON_TYPE, 400, 'missing_body'],
    ['no content type', chatBody(), {}, 415, 'unsupported_media_type'],
    ['another content type', chatBody(), type('text/plain'), 415, 'unsupported_media_type'],
    ['another charset', chatBody(), type('application/json; charset=latin1'), 415, 'unsupported_media_type'],
    ['compressed', gzipSync(chatBody()), { ...JSON_TYPE, 'content-encoding': 'gzip' }, 415, 'unsupported_media_type'],
    ['no model', '{"messages":[{"role":"user","content":"x"}]}', JSON_TYPE, 400, 'invalid_body'],
    ['messages of the wrong type', chatBody({ messages: 'hello' }), JSON_TYPE, 400, 'invalid_body'],
    ['an unknown model', chatBody({ model: 'other' }), JSON_TYPE, 404, 'unknown_model'],
  ])('%s', async (_, body, headers: Record<string, string>, status, code) => {
    const { engine, ask } = await lone();
    expectRefusal(await ask(CHAT, { method: 'POST', headers, body }), status, code);
    expect(engine.seen).toEqual([]);
  });

  it('hears of the model that it may mean', async ({ one: { chat } }) => {
    const { text } = await chat({ model: `${MODEL}x` });
    expect(text).toContain(`; did you mean ${MODEL}?`);
    // All would take too long.
    const models = Array.from({ length: 200 }, (_, at) => `adapter-${String.fromCharCode(97 + (at % 26))}${at}`);
    const engine = await fakeEngine(undefined, models);
    const many = await world([engine]);
    expect((await many.chat({ model: `${models[50]}0` })).text).toContain(`; did you mean ${models[50]}?`);
    expect((await many.chat({ model: `${models[150]}0` })).text).not.toContain(`; did you mean ${models[150]}?`);
  });

  it.each([
    ['x-maitred-programm', 'a', 'did you mean x-maitred-program?'],
    ['x-maitred-engines', 'a', 'there are x-maitred-program, '],
    ['x-maitred-priority', '5', 'docs/OPERATIONS.md#priority'],
    ['X-Maitred-Final', 'maybe', 'must be true or false'],
  ])('hears of a header of ours that would have no effect: %s: %s', async (name, value, hint) => {
    const { engine, chat } = await lone();
    const got = await chat({}, { [name]: value });
    expectRefusal(got, 400, 'bad_request');
    expect(got.text).toContain(hint);
    expect(engine.seen).toEqual([]);
  });

  it('is none for the headers of an answer, and for a flag that is not set', async () => {
    const { chat } = await lone(undefined, { budget: { calls: 9 } });
    const { headers } = await chat();
    const ours = Object.entries(headers).filter(([name]) => name.startsWith('x-maitred-'));
    for (const name of ['expected-ms', 'expected-p90-ms']) ours.push([`x-maitred-${name}`, '12000']);
    for (const final of ['', 'no', 'False', '0'])
      expect((await chat({}, { ...Object.fromEntries(ours), 'x-maitred-final': final })).status).toBe(200);
  });

  it('is one in JSON by any way to write that, and goes on without its byte-order mark', async ({
    one: { engine, ask },
  }) => {
    const more = ['; charset=utf-8', ';charset="UTF-8"', '; x=y'].map((parameter) => `application/json${parameter}`);
    for (const text of ['Application/JSON', ...more])
      expect((await ask(CHAT, { headers: type(text), body: `\uFEFF${chatBody()}` })).status).toBe(200);
    expect(engine.last.body.toString()).toBe(chatBody());
  });

  it('leaves the connection usable, and is counted', async ({ one: { raw, counted } }) => {
    expect(statuses(await raw(rawChat('{'), rawRequest('GET', '/healthz', CLOSE)))).toEqual([
      'HTTP/1.1 400',
      'HTTP/1.1 200',
    ]);
    expect(await counted('calls_rejected_total{code="invalid_json"}')).toBe(1);
  });

  it('is not counted among calls if it is none, as those of operators', async () => {
    const { ask, admin, counted, chat } = await lone(undefined, { admin: { port: 0 }, auth: { keys: keysOf('a') } });
    const all = await Promise.all([chat(), ask('/v1/models'), ask('/nowhere'), admin('/programs/nobody')]);
    expect(all.map(({ status }) => status)).toEqual([401, 401, 404, 404]);
    const codes = ['unauthorized', 'unknown_path', 'unknown_program'];
    const refused = codes.map((code) => counted(`calls_rejected_total{code="${code}"}`));
    expect(await Promise.all(refused)).toEqual([1, undefined, undefined]);
    // Where the key is known, it counts for the tenant as well.
    await ask(CHAT, { headers: { ...JSON_TYPE, ...bearer('a') }, body: '{' });
    expect(await counted('tenant_calls_rejected_total{tenant="a"}')).toBe(1);
  });

  it('with a body over the limit: by its length before a byte is read, by its bytes when it is chunked', async () => {
    const { chat, dial, raw } = await lone(undefined, { limits: { bodyBytes: 1024 } });
    expectRefusal(await chat({ pad: 'x'.repeat(2000) }), 413, 'body_too_large');
    const socket = dial();
    socket.write(rawRequest('POST', CHAT, bodyOf('99999999999')));
    expect(String(await once(socket, 'data'))).toMatch(/^HTTP\/1\.1 413 /);
    const chunk = `1000\r\n${'x'.repeat(0x1000)}\r\n`;
    const chunked = { ...CLOSE, ...JSON_TYPE, 'transfer-encoding': 'chunked', 'content-length': undefined };
    expectRawRefusal(await raw(rawRequest('POST', CHAT, chunked), chunk, chunk, '0\r\n\r\n'), 413, 'body_too_large');
  });

  it('with `Expect: 100-continue` is asked for its body only if it will be read', async () => {
    const { dial } = await lone(undefined, { limits: { bodyBytes: 1024 } });
    const head = (length: number) =>
      rawRequest('POST', CHAT, { ...CLOSE, expect: '100-continue', ...bodyOf(String(length)) });
    const [socket, refused] = [dial(), dial()];
    const all = drainSocket(socket);
    socket.write(head(chatBody().length));
    expect(String(await once(socket, 'data'))).toMatch(/^HTTP\/1\.1 100 /);
    socket.write(chatBody());
    expect(await all).toMatch(/HTTP\/1\.1 200 /);
    refused.write(head(5000));
    expect(String(await once(refused, 'data'))).toMatch(/^HTTP\/1\.1 413 /);
  });

  it('whose body or headers do not come in time', async () => {
    const { raw } = await lone(undefined, { timeouts: { bodyMs: 150, headersMs: 150 } });
    const slow = await raw(rawRequest('POST', CHAT, { 'x-request-id': 'mine', ...bodyOf('100') }), '{"model"');
    expectRawRefusal(slow, 408, 'request_timeout');
    expect(slow).toMatch(/x-request-id: mine\r\n/i);
    expectRawRefusal(await raw(`POST ${CHAT} HTTP/1.1\r\nhost: localhost\r\nx-slow`), 408, 'request_timeout');
  });

  it('and answered before its body has come is not answered again when that does not come', async () => {
    const { raw, logs } = await lone(undefined, { timeouts: { headersMs: 100, bodyMs: 100 } });
    expect(statuses(await raw(rawRequest('POST', '/nowhere', { 'content-length': '100' }), '{'))).toEqual([
      'HTTP/1.1 404',
    ]);
    expect(logs.filter(({ msg }) => msg === 'refused')).toMatchObject([{ code: 'unknown_path' }]);
  });

  it('whose headers are too large, in bytes or in number', async ({ one: { raw } }) => {
    for (const flood of [`x-a: ${'a'.repeat(40_000)}\r\n`, 'a:b\r\n'.repeat(20_000)])
      expectRawRefusal(await raw(`GET /healthz HTTP/1.1\r\nhost: localhost\r\n${flood}\r\n`), 431, 'headers_too_large');
  });

  it.each([
    ['garbage', '\x16\x03\x01\x02\x00\r\n\r\n'],
    ['an unknown method', rawRequest('BREW', '/')],
    ['length and chunks at once', `${rawRequest('POST', CHAT, { 'transfer-encoding': 'chunked' })}0\r\n\r\n`],
    ['CONNECT', rawRequest('CONNECT', 'a:1')],
    ['no host', rawRequest('GET', '/healthz', { ...CLOSE, host: undefined })],
  ])('that is not HTTP as it should be: %s', async (_, bytes) => {
    const { raw } = await lone();
    expectRawRefusal(await raw(bytes), 400, 'bad_request');
  });

  it('whose client leaves while sending it leaves nothing behind', async ({ one: { engine, dial, counted, read } }) => {
    const socket = dial();
    await once(socket, 'connect');
    await new Promise((resolve) => socket.write(`${rawRequest('POST', CHAT, bodyOf('100'))}{`, resolve));
    await new Promise((resolve) => setTimeout(resolve, 20));
    socket.destroy();
    await expect.poll(() => counted('calls_rejected_total{code="client_gone"}')).toBe(1);
    expect(await read('/totals')).toMatchObject({ calls: 0, failed: [] });
    expect(await counted('calls_rejected_total{code="bad_request"}')).toBeUndefined();
    expect(engine.seen).toEqual([]);
  });
});

describe('a path', () => {
  it.each([
    ['/chat/completions?x=1', 404, CHAT],
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

  it('with /v1 twice is refused in the form that its client reads', async ({ one: { ask } }) => {
    const got = await ask('/v1/v1/messages', { method: 'POST', body: '{}' });
    expect([got.status, got.headers['x-maitred-reason']]).toEqual([404, 'unknown_path']);
    expect(got.json()).toMatchObject({ type: 'error', error: { type: 'not_found_error' } });
  });

  it.each(['/nothing', '/v1', '/admin', '/v1x/models', '//v2', '/v1\\..\\secret'])('%s is unknown', async (path) => {
    const { ask } = await lone();
    const got = await ask(path);
    expectRefusal(got, 404, 'unknown_path');
    if (path === '/nothing') expect(got.text).not.toContain('/v1');
    expectRefusal(await ask(path, { headers: type('garbage'), body: 'x' }), 404, 'unknown_path');
  });

  const operators = ['/', '/ui', '/metrics', '/programs', '/programs/p/explain', '/stream?x=1'];
  it.each(operators)('%s is said to be on the admin listener', async (path) => {
    const { ask, admin } = await lone(undefined, { admin: { port: 0 } });
    const got = await ask(path);
    expectRefusal(got, 404, 'unknown_path');
    expect(got.text).toContain('admin.port');
    expect((await admin('/programs')).status).toBe(200);
  });

  it('that climbs, or cannot be decoded, is never forwarded', async ({ one: { engine, raw } }) => {
    const climbing = '../secret ./models %2e%2e/secret ..%2fsecret %252e%252e/secret ..%5csecret ..;/secret a%00b %zz';
    for (const path of climbing.split(' ').map((rest) => `/v1/${rest}`))
      expect([path, errorCode(await raw(rawRequest('GET', path, CLOSE)))]).toEqual([path, 'invalid_path']);
    expect(engine.seen).toEqual([]);
  });

  it('may have dots, percent signs and a query that are none of these', async () => {
    const { engine, raw } = await lone(undefined, { passthrough: { paths: ['/v1/*'] } });
    for (const path of ['/v1/a..b/...', '/v1/100%25', '/v1/x%20y?z=../..', '/v1/.well']) {
      expect(await raw(rawRequest('GET', path, CLOSE))).toMatch(/^HTTP\/1\.1 200 /);
      expect(engine.last.url).toBe(path);
    }
  });

  it.each([
    ['GET', CHAT, 'POST, OPTIONS', 'POST'],
    ['POST', '/healthz', 'GET, HEAD, OPTIONS', 'GET'],
    ['PATCH', '/engines', 'GET, POST, HEAD, OPTIONS', 'GET or POST'],
    ['TRACE', CHAT, 'POST, OPTIONS', 'POST'],
    ['QUERY', '/v1/completions', 'POST, OPTIONS', 'POST'],
    ['POST', '/v1/responses/compact', 'GET, DELETE, HEAD, OPTIONS', 'GET or DELETE'],
  ])('tells the methods that it has: %s %s', async (method, path, allow, use) => {
    const { ask } = await lone();
    const got = await ask(path, { method });
    expect(got).toMatchObject({ status: 405, headers: { allow, 'x-maitred-reason': 'method_not_allowed' } });
    expect(got.text).toContain(`"Use ${use} for this path, not ${method}."`);
  });
});

it('a request id is kept when it is sane, and made when it is not', async ({ one: { engine, chat } }) => {
  for (const [id, kept] of [
    ['abc-123', /^abc-123$/],
    ...['', 'a b', 'x'.repeat(200)].map((bad) => [bad, /^[0-9a-f-]{36}$/] as const),
  ] as const) {
    const { headers } = await chat({}, { 'x-request-id': id });
    expect(headers['x-request-id']).toMatch(kept);
    expect(engine.last.headers['x-request-id']).toBe(headers['x-request-id']);
  }
});
