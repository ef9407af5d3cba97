import { describe, expect } from 'vitest';
import { JSON_TYPE, chatBody, keysOf, raw, lone, it } from './world.js';

/** Status of a request with exactly these headers; `port` in a value stands for the gateway's own. */
async function statusOf(url: string, line: string, headers: Record<string, string>, body = ''): Promise<number> {
  const { port } = new URL(url);
  const all = { host: '127.0.0.1:port', connection: 'close', 'content-length': String(body.length), ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value.replace('port', port)}\r\n`);
  const text = await raw(url, `${line} HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
  return Number(text.slice(9, 12));
}

/** Headers that a browser sends for the gateway's own pages, or does not send at all. */
const OWN: Record<string, string>[] = [
  {},
  { host: 'localhost:port' },
  { host: 'LocalHost' },
  { host: 'maitred.localhost:port' },
  { host: '[::1]:port' },
  { host: '127.8.9.1' },
  { 'sec-fetch-site': 'none' },
  { origin: 'http://127.0.0.1:port', 'sec-fetch-site': 'same-origin' },
];
const FOREIGN: Record<string, string>[] = [
  { host: 'evil.example' },
  { host: 'evil.example:port', origin: 'http://evil.example:port', 'sec-fetch-site': 'same-origin' },
  { host: 'localhost.evil.example' },
  { host: '127.0.0.1.evil.example' },
  { host: 'evil.example:127.0.0.1' },
  { host: '10.0.0.1:port' },
  { host: '' },
  { origin: 'http://evil.example' },
  { origin: 'http://evil.example:port', 'sec-fetch-site': 'cross-site' },
  { origin: 'null' },
  { origin: 'http://127.0.0.1:port.evil.example' },
  { origin: 'http://localhost:1', 'sec-fetch-site': 'same-site' },
  { 'sec-fetch-site': 'cross-site' },
];

describe('an open admin listener', () => {
  it.each(OWN)('answers %j', async (headers) => {
    const { url } = await lone();
    for (const path of ['/engines', '/programs', '/queue', '/config', '/metrics'])
      expect(await statusOf(url, `GET ${path}`, headers)).toBe(200);
  });

  it.each(FOREIGN)('refuses %j on every path, and changes nothing', async (headers) => {
    const { engine, url } = await lone();
    for (const path of ['/engines', '/programs', '/queue', '/config', '/metrics'])
      expect([path, await statusOf(url, `GET ${path}`, headers)]).toEqual([path, 403]);
    expect(await statusOf(url, `POST /engines/${engine.id}/drain`, headers)).toBe(403);
    expect(await statusOf(url, `DELETE /engines/${engine.id}`, headers)).toBe(403);
    expect(await statusOf(url, 'POST /programs/p/end', headers)).toBe(403);
    const added = JSON.stringify({ id: 'evil', url: 'http://127.0.0.1:9', models: ['m'] });
    expect(await statusOf(url, 'POST /engines', { ...JSON_TYPE, ...headers }, added)).toBe(403);
    // Probes reveal nothing, and load balancers request them under any name.
    expect(await statusOf(url, 'GET /healthz', headers)).toBe(200);
    expect(await statusOf(url, 'GET /readyz', headers)).toBe(200);
  });

  it('answers to the names that it was told, also from their own pages', async () => {
    const { url } = await lone(undefined, { auth: { hosts: ['gpu.example'] } });
    const page = { host: 'gpu.example:1', origin: 'https://gpu.example:1', 'sec-fetch-site': 'same-origin' };
    expect(await statusOf(url, 'GET /engines', page)).toBe(200);
    expect(await statusOf(url, 'GET /engines', { ...page, origin: 'https://evil.example' })).toBe(403);
    expect(await statusOf(url, 'GET /engines', { host: 'x.gpu.example' })).toBe(403);
  });

  it('beyond loopback is asked by any address, as by Prometheus, and by no other name', async () => {
    const { adminUrl: at } = await lone(undefined, { admin: { port: 0, host: '0.0.0.0' } });
    expect(await statusOf(at, 'GET /metrics', { host: '10.1.2.3:port' })).toBe(200);
    expect(await statusOf(at, 'GET /metrics', { host: '[fd00::1]:port' })).toBe(200);
    expect(await statusOf(at, 'GET /metrics', { host: 'evil.example' })).toBe(403);
    expect(await statusOf(at, 'GET /metrics', { host: '10.1.2.3:port', origin: 'http://evil.example' })).toBe(403);
  });

  it('with a token is protected by that, whatever it is called', async () => {
    const { url } = await lone(undefined, { admin: { token: 'admin-token' } });
    const page = { host: 'gpu.example', origin: 'http://other.example' };
    expect(await statusOf(url, 'GET /engines', { ...page, authorization: 'Bearer admin-token' })).toBe(200);
    expect(await statusOf(url, 'GET /engines', page)).toBe(401);
  });
});

it('a page of another origin is told what lets it call, and may do so', async () => {
  const { post, chat } = await lone(undefined, { auth: { hosts: ['app.example'] } });
  const answer = await post('/v1/chat/completions', {}, { origin: 'https://other.example' });
  expect([answer.status, answer.text]).toEqual([403, expect.stringContaining('in auth.hosts')]);
  expect((await chat({}, { origin: 'https://app.example' })).status).toBe(200);
});

describe('reads of a client listener without keys', () => {
  it('answer its own pages and applications, and no page whose name leads here, which has no other mark', async ({
    one: { url },
  }) => {
    const foreign = FOREIGN.filter((headers) => !('sec-fetch-site' in headers));
    const asked = [...OWN, { origin: 'app://obsidian.md', 'sec-fetch-site': 'cross-site' }, ...foreign];
    const found = await Promise.all(asked.map((headers) => statusOf(url, 'GET /v1/models', headers)));
    expect(found).toEqual(asked.map((headers) => (foreign.includes(headers) ? 403 : 200)));
  });

  it('answers to names that it was told, and with keys to any', async () => {
    const named = await lone(undefined, { auth: { hosts: ['gpu.example'] } });
    expect(await statusOf(named.url, 'GET /v1/models', { host: 'gpu.example:port' })).toBe(200);
    const keyed = await lone(undefined, { auth: { keys: keysOf('a') } });
    const asked = { host: 'any.example', authorization: 'Bearer key-a' };
    expect(await statusOf(keyed.url, 'GET /v1/models', asked)).toBe(200);
  });
});

describe('a client listener without keys', () => {
  const call = (url: string, headers: Record<string, string>) =>
    statusOf(url, 'POST /v1/chat/completions', { ...JSON_TYPE, ...headers }, chatBody());

  it.each([
    {},
    { host: 'behind.a.proxy' },
    { origin: 'http://localhost:3000', 'sec-fetch-site': 'same-site' },
    { origin: 'app://obsidian.md', 'sec-fetch-site': 'cross-site' },
    { origin: 'file://', 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-mode': 'cors' },
  ])('serves clients, applications and pages of this machine: %j', async (headers) => {
    const { url } = await lone();
    expect(await call(url, headers)).toBe(200);
  });

  it.each([
    { origin: 'http://evil.example', 'sec-fetch-site': 'cross-site' },
    { origin: 'null', 'sec-fetch-site': 'cross-site' },
    { host: 'evil.example:port', origin: 'http://evil.example:port', 'sec-fetch-site': 'same-origin' },
    { host: 'evil.example:port', 'sec-fetch-site': 'same-origin' },
  ])('refuses web pages: %j', async (headers) => {
    const { engine, url } = await lone();
    expect(await call(url, headers)).toBe(403);
    expect(await statusOf(url, 'POST /v1/audio/transcriptions', { 'content-type': 'text/plain', ...headers })).toBe(
      403,
    );
    expect(await statusOf(url, 'POST /programs/release', { ...JSON_TYPE, ...headers }, '{"program_id":"p"}')).toBe(403);
    expect(engine.seen).toEqual([]);
  });

  it('with keys asks for those alone', async () => {
    const { url } = await lone(undefined, { auth: { keys: keysOf('a') } });
    const page = { host: 'gpu.example', origin: 'https://chat.example', authorization: 'Bearer key-a' };
    expect(await call(url, page)).toBe(200);
  });
});
