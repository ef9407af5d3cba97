import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { configSchema } from '../../../sidecar/config/index.js';
import type { ErrorCode, GatewayError } from '../../../sidecar/errors.js';
import { listen, type Handler, type Params, type Routes } from '../../../sidecar/http/listener.js';
import { ask, errorCode, raw } from '../gateway/world.js';

interface Taken {
  readonly route: string;
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly params: Params;
}

function listenTo(routes: Routes, refused: (error: GatewayError) => void = () => undefined) {
  return listen(configSchema.parse({}), { host: '127.0.0.1', port: 0 }, routes, refused);
}

/** A listener that records which handlers ran, and why requests were refused. */
async function listening(paths: Readonly<Record<string, readonly ('GET' | 'POST' | 'ALL')[]>>) {
  const taken: Taken[] = [];
  const refused: ErrorCode[] = [];
  const handlerOf =
    (route: string): Handler =>
    ({ method, url }, response, params) => {
      taken.push({ route, method, url, params });
      response.end(route);
    };
  const routes: Routes = Object.fromEntries(
    Object.entries(paths).map(([path, methods]) => [
      path,
      Object.fromEntries(methods.map((method) => [method, handlerOf(`${method} ${path}`)])),
    ]),
  );
  const listener = await listenTo(routes, ({ code }) => refused.push(code));
  onTestFinished(() => listener.close());
  return { url: listener.url, taken, refused };
}

const line = (target: string, method = 'GET') => `${method} ${target} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`;

describe('a path without parameters', () => {
  it('has the same handler whether it is looked up as it is, or routed for how it is written', async () => {
    const { url, taken } = await listening({ '/a/b': ['GET', 'POST'], '/a/*': ['ALL'] });
    const ways = ['/a/b', '/a/b?x=1', '//a//b', '/a/b/', '/%61/b', 'http://any.where/a/b'];
    for (const method of ['GET', 'POST']) {
      for (const way of ways) expect(await raw(url, line(way, method))).toContain(`${method} /a/b`);
    }
    expect(taken.map(({ route, params }) => [route, params])).toEqual(
      ['GET', 'POST'].flatMap((method) => ways.map(() => [`${method} /a/b`, {}])),
    );
  });

  it('keeps its query, and one that looks like a route decides nothing', async () => {
    const { url, taken } = await listening({ '/a': ['GET'], '/b': ['GET'] });
    await raw(url, line('/a?/b'));
    await raw(url, line('/a/?/b'));
    expect(taken.map(({ route, url: target }) => [route, target])).toEqual([
      ['GET /a', '/a?/b'],
      ['GET /a', '/a/?/b'],
    ]);
  });

  it('answers other methods alike on both ways, and HEAD as GET', async () => {
    const { url, taken } = await listening({ '/a': ['GET'] });
    for (const path of ['/a', '//a']) {
      const other = await ask(`${url}${path}`, { method: 'PUT' });
      expect([other.status, other.headers['allow'], errorCode(other.text)]).toEqual([
        405,
        'GET, HEAD, OPTIONS',
        'method_not_allowed',
      ]);
      expect((await ask(`${url}${path}`, { method: 'OPTIONS' })).status).toBe(204);
      expect((await ask(`${url}${path}`, { method: 'HEAD' })).status).toBe(200);
    }
    expect(taken.map(({ method }) => method)).toEqual(['HEAD', 'HEAD']);
  });

  it.each(['constructor', '__proto__', 'toString', 'hasOwnProperty'])('is none for being called %s', async (name) => {
    const { url, taken, refused } = await listening({ '/a': ['GET'] });
    for (const target of [`/${name}`, name]) expect(await raw(url, line(target))).toMatch(/^HTTP\/1\.1 40[04] /);
    expect([taken, refused.filter((code) => code === 'internal')]).toEqual([[], []]);
  });
});

describe('a route with parameters', () => {
  it.each(['/a/:id', '/a/*'])('is not taken for a path of the same letters: %s', async (route) => {
    const { url, taken } = await listening({ [route]: ['GET'] });
    await raw(url, line(route));
    // Taken by the router, which alone knows the parameter's value.
    expect(taken).toEqual([expect.objectContaining({ route: `GET ${route}`, params: expect.anything() as unknown })]);
    expect(Object.values(taken[0]?.params ?? {})).toEqual([route.slice('/a/'.length)]);
  });

  it('gets its parameter decoded, a path without parameters goes before it, and a bad encoding nowhere', async () => {
    const { url, taken, refused } = await listening({ '/a/:id': ['GET'], '/a/b': ['GET'], '/a/:id/c': ['GET'] });
    for (const path of ['/a/b', '/a/x%2Fb', '/a/%2e%2e/c', `/a/${'x'.repeat(9000)}`]) await raw(url, line(path));
    expect(taken.map(({ route, params }) => [route, params['id']])).toEqual([
      ['GET /a/b', undefined],
      ['GET /a/:id', 'x/b'],
      ['GET /a/:id/c', '..'],
      ['GET /a/:id', 'x'.repeat(9000)],
    ]);
    for (const path of ['/a/%zz', '/a/%ff', '/%']) expect(await raw(url, line(path))).toMatch(/^HTTP\/1\.1 400 /);
    expect(refused).toEqual(['invalid_path', 'invalid_path', 'invalid_path']);
  });
});

describe('a request', () => {
  it('that names its host twice is refused, in whatever case', async () => {
    const { url, taken } = await listening({ '/a': ['GET'] });
    for (const hosts of ['host: x\r\nhost: x', 'Host: x\r\nHOST: y', 'host: x\r\nhost:']) {
      const text = await raw(url, `GET /a HTTP/1.1\r\nconnection: close\r\n${hosts}\r\n\r\n`);
      expect([text.slice(9, 12), errorCode(text)]).toEqual(['400', 'bad_request']);
    }
    // The word in other headers is not a second Host header.
    await raw(url, 'GET /a HTTP/1.1\r\nhost: x\r\nx-host: host\r\nhosts: host\r\nconnection: close\r\n\r\n');
    expect(taken).toHaveLength(1);
  });

  it('that expects anything but to go on is a 417, and its body is not asked for', async () => {
    const { url, taken, refused } = await listening({ '/a': ['POST'] });
    const head = (expect: string) =>
      `POST /a HTTP/1.1\r\nhost: x\r\nexpect: ${expect}\r\ncontent-length: 1\r\nconnection: close\r\n\r\n`;
    for (const expected of ['200-maybe', '100-continue, 200-maybe', '100', 'x-100-continue'])
      expect(await raw(url, head(expected))).toMatch(/^HTTP\/1\.1 417 /);
    expect(refused).toEqual(Array(4).fill('expectation_failed'));
    expect(await raw(url, head('100-Continue'), 'x')).toMatch(/^HTTP\/1\.1 200 /);
    expect(taken).toHaveLength(1);
  });
});

describe('a listener that closes', () => {
  it('lets a slow client read the answer that has ended', async () => {
    // More than the sockets' own buffers hold, and little enough for a busy machine.
    const bytes = 12 << 20;
    let answered = (): void => undefined;
    const ended = new Promise<void>((resolve) => (answered = resolve));
    const listener = await listenTo({
      '/a': {
        GET: (_, response) => {
          response.end(Buffer.alloc(bytes));
          answered();
        },
      },
    });
    const client = connect(Number(new URL(listener.url).port), '127.0.0.1').pause();
    client.write(line('/a'));
    await ended;
    const closed = listener.close();
    let read = 0;
    client.on('data', ({ length }: Buffer) => (read += length)).resume();
    await Promise.all([once(client, 'close'), closed]);
    expect(read).toBeGreaterThan(bytes);
  });
});
