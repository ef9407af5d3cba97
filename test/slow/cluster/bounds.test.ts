import { Redis } from 'ioredis';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { gatewayId, type RedisOptions } from '../../../cluster/index.js';
import { programId, tenantId } from '../../../src/index.js';
import { readText } from '../../support/tree.js';
import { claimOf, Desk, recordOf } from '../../support/shared-desk.js';
import { noRedis, RedisServer } from '../../../processes/redis.js';
import { folderOf } from '../../support/folder.js';
import { freePort } from '../../../processes/process.js';
import { ask, fakeEngine, until, world } from '../../sidecar/gateway/world.js';
import { PATIENCE_MS } from './counted.js';

const opened: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close();
});

async function open(): Promise<{ readonly server: RedisServer; readonly admin: Redis }> {
  const server = await RedisServer.start();
  opened.push(() => server.stop());
  const admin = new Redis(server.path);
  opened.push(() => admin.disconnect());
  return { server, admin };
}

async function deskAt({ path }: RedisServer, options: Partial<RedisOptions> = {}): Promise<Desk> {
  const place = { connection: { url: path }, pool: 'p', gateway: gatewayId('g') };
  const desk = await Desk.inRedis({ ...place, ...options });
  opened.push(() => desk.shared.leave());
  return desk;
}

/** Gives a user the rights that docs/CLUSTER.md lists. */
async function letIn(admin: Redis): Promise<void> {
  const rule = /^ACL SETUSER maitred (.*)$/m.exec(readText('docs/CLUSTER.md'))![1]!;
  await admin.acl('SETUSER', 'maitred', ...rule.replace('>PASSWORD', '>secret').split(' '));
}

/** Uses every operation once. */
async function useAll({ shared }: Desk): Promise<void> {
  await shared.claim([claimOf('e'), claimOf('f')]);
  shared.release(claimOf('f').engine);
  await shared.take(programId('t:gone'));
  shared.forget(programId('t:gone'));
  await shared.take(programId('t:p'));
  shared.put(programId('t:p'), recordOf(1));
  shared.remember(tenantId('t'), 'key', programId('t:p'));
  for (let i = 0; i < 2; i += 1) await shared.find(tenantId('t'), ['key']);
}

describe.skipIf(noRedis !== undefined)('the store', () => {
  it('keeps at most what is allowed, the last used, and nothing for ever', async () => {
    const { server, admin } = await open();
    const desk = await deskAt(server, { programsMax: 1000, keysMax: 500 });
    const first = programId('t:first');
    for (let i = 0; i < 5000; i += 1) {
      desk.shared.put(programId(`t:${i}`), recordOf(i));
      desk.shared.remember(tenantId('t'), `k${i}`, programId(`t:${i}`));
      if (i % 100 !== 0) continue;
      await desk.settled();
      // What is used stays.
      desk.shared.put(first, recordOf(7, i));
    }
    await useAll(desk);
    const held = async (name: string) =>
      (await admin.hlen(name.replace('*', 'young'))) + (await admin.hlen(name.replace('*', 'old')));
    for (const [name, most] of [
      ['maitred:{p}:programs:*', 1000],
      ['maitred:{p}:keys:*:t', 500],
    ] as const) {
      // A batch may go over by its own entries.
      expect(await held(name)).toBeLessThanOrEqual(most + 256);
      expect(await held(name)).toBeGreaterThanOrEqual(most / 2);
    }
    expect((await desk.shared.take(first))?.record?.calls).toBe(4900);
    for (const key of await admin.keys('*')) expect([key, (await admin.pttl(key)) > 0]).toEqual([key, true]);
  });

  it('forgets what was not used for so long', async () => {
    const { server, admin } = await open();
    const desk = await deskAt(server, { keysMs: 400 });
    const tenant = tenantId('t');
    desk.shared.remember(tenant, 'used', programId('t:used'));
    desk.shared.remember(tenant, 'idle', programId('t:idle'));
    await desk.settled();
    const until = performance.now() + 1500;
    while (performance.now() < until) expect(await desk.shared.find(tenant, ['used'])).toBe('t:used');
    expect(await desk.shared.find(tenant, ['idle'])).toBeUndefined();
    expect(await admin.exists('maitred:{p}:keys:old:t')).toBeLessThanOrEqual(1);
  });

  it('needs no more rights than docs/CLUSTER.md lists', async () => {
    const { server, admin } = await open();
    await letIn(admin);
    await admin.acl('LOG', 'RESET');
    const options = { username: 'maitred', password: 'secret' };
    const desk = await deskAt(server, { connection: { url: server.path, options } });
    await useAll(desk);
    await desk.shared.leave();
    expect(desk.shared.state.failures).toBe(0);
    expect(await admin.acl('LOG')).toEqual([]);
  });

  it('is reached by TLS alone, as a user with these rights, by an authority that the configuration names', async () => {
    const [caFile, keyFile] = makeCertificate();
    const port = await freePort();
    const certificate = ['--tls-cert-file', caFile, '--tls-key-file', keyFile, '--tls-ca-cert-file', caFile];
    const server = await RedisServer.start(['--tls-port', `${port}`, '--tls-auth-clients', 'no', ...certificate]);
    opened.push(() => server.stop());
    const admin = new Redis(server.path);
    opened.push(() => admin.disconnect());
    await letIn(admin);
    const user = { url: `rediss://127.0.0.1:${port}`, username: 'maitred', password: 'secret', limitMs: 1000 };
    const engine = await fakeEngine();
    const stateOf = async (cluster: object, isSo: (state: Record<string, unknown>) => boolean = () => true) => {
      const gateway = await world([engine], { cluster });
      let state: Record<string, unknown> = {};
      await until(async () => {
        state = (await ask(`${gateway.adminUrl}/gateway`)).json()['cluster'] as Record<string, unknown>;
        return isSo(state);
      }, PATIENCE_MS);
      return state;
    };
    // A busy machine may be late at first.
    expect(await stateOf({ ...user, caFile }, ({ standing }) => standing === 'shared')).toMatchObject({ live: 1 });
    expect(await stateOf(user)).toMatchObject({ standing: 'alone', last_failure: 'self-signed certificate' });
    expect(await stateOf({ ...user, caFile, password: 'wrong' })).toMatchObject({
      standing: 'alone',
      last_failure: expect.stringContaining('WRONGPASS') as string,
    });
    expect(await stateOf({ ...user, url: `redis://127.0.0.1:${port}` })).toMatchObject({ standing: 'alone' });
    // Of the wrong password alone.
    expect(((await admin.acl('LOG')) as unknown[][]).map((entry) => entry[3])).toEqual(['auth']);
  });
});

/** Of a server at 127.0.0.1, signed by itself. @returns the certificate and its key */
function makeCertificate(): [string, string] {
  const folder = folderOf({});
  const [certificate, key] = [join(folder, 'server.crt'), join(folder, 'server.key')];
  const subject = ['-subj', '/CN=store', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const made = spawnSync('openssl', [
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-days',
    '2',
    ...subject,
    '-keyout',
    key,
    '-out',
    certificate,
  ]);
  if (made.status !== 0) throw new Error(`openssl: ${made.stderr.toString()}`);
  return [certificate, key];
}
