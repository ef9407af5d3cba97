import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { configSchema } from '../../../sidecar/config/index.js';
import { ownCluster } from '../../../sidecar/discovery/cluster.js';
import { get } from '../../../sidecar/discovery/api-server.js';
import { watchKubernetes } from '../../../sidecar/discovery/kubernetes.js';
import { endpointsOf, sliceSchema } from '../../../sidecar/discovery/slices.js';
import { folderOf } from '../../support/folder.js';
import { until } from '../engines/manual-timers.js';
import { FakeApiServer, sliceOf, type EndpointOf } from './api-server.js';
import { Looks, closing } from './looks.js';

const DEFAULTS = { kind: 'vllm' } as const;

async function world(fields: object = {}) {
  const server = closing(await FakeApiServer.start());
  server.slices = [sliceOf('s1', [['10.0.0.1', 'a'], ['10.0.0.2', 'b']])]; // prettier-ignore
  const start = () => {
    const kubernetes = { service: 'vllm', ...fields };
    const config = configSchema.parse({ discovery: [{ kubernetes }] }).discovery[0]!.kubernetes!;
    return new Looks((ports) => watchKubernetes(config, DEFAULTS, ports, server.cluster));
  };
  /** The source, after its list, with an open watch. */
  const watching = async () => {
    const looks = start();
    await looks.next();
    await until(() => server.watch !== undefined);
    return looks;
  };
  return { server, start, watching };
}

const [A, B] = ['http://10.0.0.1:8000', 'http://10.0.0.2:8000'];

describe('a Service', () => {
  it('is listed, then watched from the version of the list', async () => {
    const { server, start } = await world();
    const looks = start();
    expect(await looks.next()).toEqual([
      { kind: 'vllm', url: A, id: 'a' },
      { kind: 'vllm', url: B, id: 'b' },
    ]);
    await until(() => server.watch !== undefined);
    expect(server.paths).toEqual(new Set(['/apis/discovery.k8s.io/v1/namespaces/llm/endpointslices']));
    expect(server.asked.map((query) => query.get('labelSelector'))).toEqual(
      Array(2).fill('kubernetes.io/service-name=vllm'),
    );
    expect(server.watches[0]?.get('resourceVersion')).toBe('100');
    expect(server.watches[0]?.get('allowWatchBookmarks')).toBe('true');
    expect(server.tokens).toEqual(Array(2).fill('Bearer t'));
    server.send('ADDED', sliceOf('s2', [['10.0.0.3', 'c']]));
    expect(await looks.urls()).toEqual([A, B, 'http://10.0.0.3:8000']);
    server.send('MODIFIED', sliceOf('s1', [['10.0.0.2', 'b']]));
    expect(await looks.urls()).toEqual([B, 'http://10.0.0.3:8000']);
    server.send('DELETED', sliceOf('s2', null));
    expect(await looks.urls()).toEqual([B]);
    looks.timers.advance(5000);
    expect(await looks.urls()).toEqual([B]);
  });

  it('may have a list of several pages, and engines named with their namespace and certificate', async () => {
    const { server, start } = await world({ namespace: 'other', scheme: 'https' });
    server.slices = [sliceOf('s1', [['10.0.0.1', 'a']]), sliceOf('s2', [['10.0.0.2', '']])];
    server.page = 1;
    const serverName = 'vllm.other.svc';
    expect(await start().next()).toEqual([
      { kind: 'vllm', url: 'https://10.0.0.1:8000', id: 'a.other', serverName },
      { kind: 'vllm', url: 'https://10.0.0.2:8000', serverName },
    ]);
    expect(server.lists.map((query) => query.get('continue'))).toEqual([null, '1']);
  });

  it('is watched again from the last version when the server ends the watch, or a bookmark has moved it', async () => {
    const { server, watching } = await world();
    const looks = await watching();
    server.send('BOOKMARK', { metadata: { resourceVersion: '150' } });
    server.watch?.end();
    await looks.resume();
    await until(() => server.watches.length === 2);
    expect(server.watches[1]?.get('resourceVersion')).toBe('150');
    expect([server.lists.length, looks.all]).toEqual([1, []]);
  });

  it.each(['within the watch', 'instead of it'])('is listed anew when its version is gone: 410 %s', async (where) => {
    const { server, watching } = await world();
    const looks = await watching();
    if (where === 'within the watch') server.send('ERROR', { kind: 'Status', code: 410, message: 'too old' });
    else {
      server.failures.push(410);
      server.watch?.end();
      await looks.resume();
    }
    server.slices = [sliceOf('s9', [['10.0.0.9', 'z']])];
    await looks.resume();
    expect(await looks.urls()).toEqual(['http://10.0.0.9:8000']);
    expect(server.lists).toHaveLength(2);
  });

  it('whose server is away keeps its version, and is asked with growing pauses', async () => {
    const { server, watching } = await world();
    const looks = await watching();
    server.failures.push('break', 'break', 'break');
    server.watch?.destroy();
    for (const most of [1000, 2000, 4000, 8000]) {
      expect(await looks.next()).toEqual(expect.any(String));
      const pause = await looks.pause();
      expect(pause).toBeGreaterThanOrEqual(most / 2);
      expect(pause).toBeLessThanOrEqual(most);
      await looks.again();
    }
    await until(() => server.watches.length === 5);
    server.send('MODIFIED', sliceOf('s1', [['10.0.0.2', 'b']]));
    expect(await looks.urls()).toEqual([B]);
    expect(server.lists).toHaveLength(1);
  });

  it.each([
    ['403', (server: FakeApiServer) => server.failures.push(403), '403: no such luck'],
    ['another list', (server: FakeApiServer) => (server.slices = [{ kind: 'Pod' }]), 'items.0.metadata'],
    ['no such port', (server: FakeApiServer) => (server.slices = [sliceOf('s', [['1.2.3.4', 'a']], { ports: [{ name: 'x', port: 1 }, { port: 2 }] })]), 'x (1), 2'], // prettier-ignore
  ])('that is refused says why, and is asked again: %s', async (_, refuse, reason) => {
    const { server, start } = await world();
    const before = server.slices;
    refuse(server);
    const looks = start();
    expect(await looks.next()).toContain(reason);
    server.slices = before;
    await until(() => server.watch !== undefined || looks.timers.pending.length > 0);
    if (server.watch === undefined) await looks.again();
    else server.send('MODIFIED', sliceOf('s', [['10.0.0.1', 'a']]));
    expect(await looks.next()).toEqual(expect.arrayContaining([{ kind: 'vllm', url: A, id: 'a' }]));
  });

  it('that is closed in the midst of a watch reports nothing more', async () => {
    const { server } = await world();
    const config = configSchema.parse({ discovery: [{ kubernetes: { service: 'vllm' } }] });
    let found = 0;
    const ports = { found: () => (found += 1), failed: () => (found += 1), setTimer: () => () => undefined };
    const source = watchKubernetes(config.discovery[0]!.kubernetes!, DEFAULTS, ports, server.cluster);
    await until(() => server.watch !== undefined);
    source.close();
    await new Promise((resolve) => server.watch!.on('close', resolve));
    expect(found).toBe(1);
  });
});

describe('endpoints', () => {
  const count = (slices: readonly object[], port?: string | number) => {
    const { endpoints, leaving } = endpointsOf(slices.map((slice) => sliceSchema.parse(slice)), port); // prettier-ignore
    return [endpoints.map(({ pod, host }) => `${pod ?? ''}@${host}`), leaving.map(({ pod }) => pod)];
  };
  const one = (...conditions: EndpointOf[2][]) => [sliceOf('s', conditions.map((c, i) => [`1.1.1.${i}`, `p${i}`, c] as const))]; // prettier-ignore

  it.each<[string, EndpointOf[2][], string[], string[]]>([
    ['ready or unknown ones', [{ ready: true }, undefined, {}, { ready: null }], ['p0', 'p1', 'p2', 'p3'], []],
    ['no unready ones', [{ ready: true }, { ready: false }], ['p0'], []],
    ['not those shutting down', [{ ready: true }, { ready: true, terminating: true }], ['p0'], ['p1']],
    [
      'those shutting down while there are no others',
      [
        { ready: false, serving: true, terminating: true },
        { ready: false, serving: false, terminating: true },
      ],
      ['p0'],
      ['p1'],
    ],
  ])('count: %s', (_, conditions, pods, leaving) => {
    const [found, left] = count(one(...conditions));
    expect([found!.map((text) => text!.split('@')[0]), left]).toEqual([pods, leaving]);
  });

  it('count once for each pod: in several slices, and of one family in dual-stack Services', () => {
    const v6 = { addressType: 'IPv6' };
    const slices = [
      sliceOf('v6', [['fd00::1', 'a'], ['fd00::2', 'only6']], v6),
      sliceOf('s1', [['10.0.0.1', 'a', { ready: false, terminating: true }]]),
      sliceOf('s2', [['10.0.0.7', 'a'], ['10.0.0.8', '']]),
    ]; // prettier-ignore
    expect(count(slices)).toEqual([['a@10.0.0.7:8000', '@10.0.0.8:8000', 'only6@[fd00::2]:8000'], []]);
  });

  it('have the port asked for by name or number', () => {
    const ports = [{ name: 'http', port: 8000 }, { name: 'metrics', port: 9000 }, { name: 'quic', port: 1, protocol: 'UDP' }]; // prettier-ignore
    const slices = [sliceOf('s', [['1.1.1.1', 'a']], { ports }), sliceOf('none', null, { ports: null })];
    expect(count(slices, 'metrics')[0]).toEqual(['a@1.1.1.1:9000']);
    expect(count(slices, 8000)[0]).toEqual(['a@1.1.1.1:8000']);
    for (const port of [undefined, 'quic', 80])
      expect(() => count(slices, port)).toThrow('http (8000), metrics (9000)');
    expect(count([sliceOf('all', [['1.1.1.1', 'a']], { ports: [] })], 80)[0]).toEqual(['a@1.1.1.1:80']);
    expect(count([...slices, sliceOf('other', [['2.2.2.2', 'b']], { ports: [{ port: 7 }] })], 'http')[0]).toHaveLength(
      1,
    );
  });
});

describe('credentials', () => {
  const folder = () => folderOf({ token: 'tok\n', 'ca.crt': 'CA', namespace: 'here' });

  it('of a pod are those of its service account', async () => {
    const env = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '6443' };
    const cluster = await ownCluster(env, folder());
    expect(cluster).toEqual({
      server: 'https://[fd00::1]:6443',
      namespace: 'here',
      token: 'tok',
      tls: { ca: Buffer.from('CA') },
    });
    await expect(ownCluster({})).rejects.toThrow('KUBERNETES_SERVICE_HOST');
  });

  const hasOpenssl = spawnSync('openssl', ['version']).status === 0;
  it.skipIf(!hasOpenssl)('verify the API server by the certificate of its cluster', async () => {
    const keys = folderOf({ token: 'tok', namespace: 'here' });
    const files = ['-keyout', join(keys, 'key'), '-out', join(keys, 'ca.crt')];
    execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-subj', '/CN=k', '-addext', 'subjectAltName=IP:127.0.0.1', ...files], { stdio: 'ignore' }); // prettier-ignore
    const tls = { key: readFileSync(join(keys, 'key')), cert: readFileSync(join(keys, 'ca.crt')) };
    const server = closing(new FakeApiServer((listener) => createServer(tls, listener)));
    await server.listen();
    const cluster = await ownCluster(
      { KUBERNETES_SERVICE_HOST: '127.0.0.1', KUBERNETES_SERVICE_PORT: String(server.port) },
      keys,
    );
    const ask = { path: '/x', silenceMs: 1000, signal: new AbortController().signal };
    expect(await get({ ...ask, cluster })).toMatchObject({ items: [] });
    expect(server.tokens).toEqual(['Bearer tok']);
    await expect(get({ ...ask, cluster: { ...cluster, tls: {} } })).rejects.toThrow();
  });
});
