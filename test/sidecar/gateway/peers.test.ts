import { describe, expect, it } from 'vitest';
import { gatewayId } from '../../../cluster/index.js';
import type {
  EndedPrograms,
  GatewayState,
  History,
  Program,
  ProgramGroups,
  ProgramPage,
  Queue,
  TotalsAnswer,
} from '../../../sidecar/admin/answers.js';
import { noRedis, RedisServer } from '../../../processes/redis.js';
import { Desk } from '../../support/shared-desk.js';
import {
  ask,
  bearer,
  begun,
  chat,
  cleanUp,
  heldEngine,
  keysOf,
  metrics,
  named,
  until,
  world,
  type World,
} from './world.js';

const PATIENCE_MS = 60_000;
const TOKEN = { authorization: 'Bearer operator' };

const get = async <T>({ adminUrl }: World, path: string, headers = TOKEN): Promise<T> => {
  const got = await ask(adminUrl + path, { headers });
  expect(got.status, path).toBe(200);
  return got.json() as T;
};

/** Shares with so many members, itself included. */
const live = (gateway: World, members: number) =>
  until(async () => {
    const { cluster } = await get<GatewayState>(gateway, '/gateway');
    return cluster?.standing === 'shared' && cluster.live === members;
  }, PATIENCE_MS);

/** Two gateways in front of an engine that runs one call at a time, and holds it until told. */
async function two() {
  const store = await RedisServer.start();
  cleanUp(() => store.stop());
  const { engine, open: release } = await heldEngine();
  const start = (gateway: string) =>
    world([], {
      engines: [{ url: engine.url, kind: 'openai', id: 'e', window: 1 }],
      admin: { port: 0, token: 'operator' },
      auth: { keys: keysOf('t', 'u') },
      admission: { batching: 'none', gate: 0 },
      // A busy machine makes no operation late.
      cluster: { url: store.path, pool: 'p', gateway, gateways: 2, limitMs: 1000, heartbeatMs: 100, leaseMs: 60_000 },
    });
  const gateways = [await start('a'), await start('b')] as const;
  for (const gateway of gateways) await live(gateway, 2);
  const [a, b] = gateways;
  return { store, gateways, a, b, engine, release };
}

/** The same, whose engine answers at once. */
async function free() {
  const both = await two();
  both.release();
  return both;
}

/** One more member, which answers the others' questions so. */
async function join(store: RedisServer, name: string, answer: () => Promise<string>): Promise<void> {
  const place = { connection: { url: store.path }, pool: 'p', gateway: gatewayId(name) };
  const desk = await Desk.inRedis({ ...place, answer });
  cleanUp(() => desk.shared.leave());
}

const call = ({ url }: World, program: string, tenant = 't') => chat(url, {}, { ...named(program), ...bearer(tenant) });
const page = (gateway: World, query = '') => get<ProgramPage>(gateway, `/programs${query}`);
const waiting = async (gateway: World, calls: number) =>
  until(async () => (await get<Queue>(gateway, '/queue')).waiting === calls, PATIENCE_MS);

describe.skipIf(noRedis !== undefined)('gateways of a cluster', () => {
  it('each show the programs, waits, calls and times of all of them', async () => {
    const { gateways, a, b, release } = await two();
    const first = call(a, 'p1');
    await until(async () => (await page(a)).programs[0]?.state === 'running', PATIENCE_MS);
    // Ages at two gateways are read a moment apart.
    const others = [call(a, 'p2')];
    for (const gateway of gateways) await waiting(gateway, 1);
    others.push(call(b, 'p3'), call(b, 'p3', 'u'));
    for (const gateway of gateways) await waiting(gateway, 3);

    const seen: ProgramPage[] = [];
    for (const gateway of gateways) seen.push(await page(gateway, '?sort=-age_seconds'));
    for (const { programs, total } of seen) {
      expect(total).toBe(4);
      expect(programs.map(({ key }) => key)).toEqual(expect.arrayContaining(['t:p1', 't:p2', 't:p3', 'u:p3']));
      const where = Object.fromEntries(programs.map((row) => [row.key, row.gateway?.split('.')[0]]));
      expect(where).toEqual({ 't:p1': 'a', 't:p2': 'a', 't:p3': 'b', 'u:p3': 'b' });
    }
    for (const gateway of gateways)
      expect((await get<ProgramGroups>(gateway, '/programs?by=tenant')).groups).toMatchObject([
        { name: 't', programs: 3, waiting: 2, running: 1 },
        { name: 'u', programs: 1, waiting: 1, running: 0 },
      ]);
    // Pages go through all of them, in one order.
    const pages = [];
    for (const offset of [0, 1, 2, 3])
      pages.push(...(await page(a, `?sort=age_seconds&limit=1&offset=${offset}`)).programs);
    expect(pages.map(({ key }) => key).sort()).toEqual(['t:p1', 't:p2', 't:p3', 'u:p3']);
    expect(pages.map((row) => row.age_seconds)).toEqual(pages.map((row) => row.age_seconds).sort((x, y) => x - y));
    expect((await page(a, '?tenant=u')).programs.map(({ key }) => key)).toEqual(['u:p3']);
    expect((await page(a, '?state=running')).programs.map(({ key }) => key)).toEqual(['t:p1']);
    expect((await a.admin('/programs?sort=nothing', { headers: TOKEN })).status).toBe(400);

    const why = await get<{ text: string; program: Program }>(a, '/programs/p3/explain?tenant=u');
    expect(why.program).toMatchObject({ key: 'u:p3', current_wait_cause: 'window' });
    expect(why.text).toContain(`It is at the gateway ${why.program.gateway}.`);
    expect((await get<Program>(a, '/programs/t:p3')).gateway).toBe(why.program.gateway);
    expect((await a.admin('/programs/nothing/explain', { headers: TOKEN })).status).toBe(404);

    release();
    for (const { status } of await Promise.all([first, ...others])) expect(status).toBe(200);
    for (const gateway of gateways) {
      expect((await get<TotalsAnswer>(gateway, '/totals')).queue_seconds.count).toBe(4);
      const { queue_seconds: queued } = await get<History>(gateway, '/history');
      expect(queued.count.reduce((sum, calls) => sum + calls, 0)).toBe(4);
      expect((await get<{ calls: unknown[] }>(gateway, '/programs/t:p3/calls')).calls).toHaveLength(1);
    }
    // The end is told to either of them.
    for (const { status } of [
      await a.admin('/programs/t:p3/end', { method: 'POST', headers: TOKEN }),
      await a.ask('/programs/p3/end', { method: 'POST', headers: bearer('u') }),
    ])
      expect(status).toBe(200);
    for (const gateway of gateways) await until(async () => (await page(gateway)).total === 2, PATIENCE_MS);
    expect((await b.ask('/programs/p1/end', { method: 'POST', headers: bearer('u') })).status).toBe(404);
    const { programs: ended } = await get<EndedPrograms>(a, '/ended');
    expect(ended.map(({ key, cause }) => [key, cause]).sort()).toEqual([
      ['t:p3', 'operator'],
      ['u:p3', 'ended'],
    ]);
    for (const gateway of gateways)
      expect((await get<ProgramGroups>(gateway, '/programs?by=tenant')).groups).toMatchObject([
        { name: 't', programs: 2, ended: 1, calls: 3 },
        { name: 'u', programs: 0, ended: 1, calls: 1 },
      ]);
    // Its next call is one of a new program, wherever it comes to.
    await call(b, 'p3');
    expect((await get<Program>(a, '/programs/t:p3')).calls).toBe(1);
  });

  it('have a program once, where its last call ran', async () => {
    const { gateways, a, b } = await free();
    await call(a, 'p');
    await call(b, 'p');
    for (const gateway of gateways)
      await until(async () => {
        const { programs } = await page(gateway);
        return programs.length === 1 && programs[0]?.gateway?.startsWith('b.') === true;
      }, PATIENCE_MS);
    expect((await get<Program>(a, '/programs/p')).gateway).toMatch(/^b\./);
    const { calls } = await get<{ calls: { arrived_at: number }[] }>(a, '/programs/t:p/calls');
    expect(calls).toHaveLength(2);
    expect(calls[0]!.arrived_at).toBeLessThanOrEqual(calls[1]!.arrived_at);
    await b.admin('/programs/p/end', { method: 'POST', headers: TOKEN });
    await until(async () => (await get<EndedPrograms>(a, '/ended')).programs.length === 1, PATIENCE_MS);
  });

  it('end a program of another for those who release it', async () => {
    const { a, b } = await free();
    await call(b, 'p');
    const releasing = async () => (await a.post('/programs/release', { program_id: 'p' }, bearer('t'))).json();
    expect(await releasing()).toMatchObject({ released: true });
    expect(await releasing()).toMatchObject({ released: false });
    await call(b, 'p');
    expect((await get<Program>(b, '/programs/t:p')).calls).toBe(1);
  });

  it('find the program of a whole id before one that only begins so, and ask for the tenant if several have it', async () => {
    const { a, b } = await free();
    await call(a, 'run-10');
    await call(b, 'run-1');
    await call(a, 'same');
    await call(b, 'same', 'u');
    const why = (id: string) => get<{ program: Program }>(a, `/programs/${id}/explain`);
    expect((await why('run-1')).program.key).toBe('t:run-1');
    expect((await why('run-10')).program.key).toBe('t:run-10');
    const end = (query: string) => a.admin(`/programs/same/end${query}`, { method: 'POST', headers: TOKEN });
    expect((await end('')).status).toBe(400);
    expect((await end('?tenant=u')).json()).toMatchObject({ ended: true, tenant: 'u' });
    expect((await get<Program>(a, '/programs/same')).key).toBe('t:same');
  });

  it('stream the same to the page, name one that does not answer, and show nothing without the token', async () => {
    const { store, a, b } = await free();
    await call(b, 'p');
    await join(store, 'mute', () => new Promise(() => undefined));
    await live(a, 3);
    const { last } = await a.watch('program=t%3Ap&ended', TOKEN);
    await until(() => Promise.resolve('programs' in last), PATIENCE_MS);
    expect(last).toMatchObject({
      gateway: { cluster: { live: 3, silent: ['mute'] } },
      queue: { waiting: 0 },
      totals: { queue_seconds: { count: 1 } },
      programs: { total: 1, programs: [{ key: 't:p' }] },
      program: { key: 't:p' },
      ended: { programs: [] },
    });
    expect((last['calls'] as { calls: unknown[] }).calls).toHaveLength(1);
    for (const path of ['/programs', '/queue', '/programs/p', '/programs/p/explain', '/ended', '/stream']) {
      expect((await a.admin(path)).status).toBe(401);
      expect((await a.ask(path, { headers: bearer('t') })).status, path).toBe(404);
    }
  });

  it('warn of one that has gone, and of a store that has', async () => {
    const { store, a, b } = await free();
    const status = async () => (await get<GatewayState>(a, '/gateway')).status;
    expect(await status()).toMatchObject({ level: 'good' });
    await b.gateway.close();
    await live(a, 1);
    const fewer = {
      level: 'warn',
      title: 'cluster incomplete',
      text: '1 of 2 gateways live. 1 engine up. No call waits.',
    };
    expect(await status()).toMatchObject(fewer);
    const figures = await metrics(a.adminUrl, TOKEN);
    expect(figures.get('maitred_cluster_gateways{pool="p"}')).toBe(1);
    expect(figures.get('maitred_cluster_gateways_expected{pool="p"}')).toBe(2);
    await store.stop();
    await until(async () => (await status()).text.startsWith('The shared state is away'), PATIENCE_MS);
    expect(await status()).toMatchObject({
      level: 'warn',
      helps: `What helps: start the server at ${store.path} (docs/CLUSTER.md#failures).`,
    });
  });

  it('count what an engine failed and answered anywhere', async () => {
    const { gateways, b, engine } = await free();
    const answer = engine.answer;
    engine.answer = begun((response) => response.destroy());
    for (const gateway of gateways) await chat(gateway.url, { stream: true }, { ...named('p'), ...bearer('t') });
    engine.answer = answer;
    await call(b, 'q');
    const failures = { calls: 2, attempts: 3, answered_since: 1, mended: false };
    for (const path of ['/engines', '/engines/e'])
      for (const gateway of gateways)
        expect(await get(gateway, path)).toMatchObject(
          path === '/engines' ? { engines: [{ failures }] } : { failures },
        );
  });

  it('leave out an answer that is no JSON', async () => {
    const { store, a } = await free();
    await join(store, 'odd', () => Promise.resolve('{'));
    await live(a, 3);
    for (const path of ['/programs', '/queue', '/ended', '/totals']) await get(a, path);
  });

  it('name one of another version, of which they know nothing', async () => {
    const { store, a } = await free();
    await join(store, 'older', () => Promise.resolve(''));
    const state = async () => get<GatewayState>(a, '/gateway');
    await until(async () => (await state()).cluster?.other_version[0] === 'older', PATIENCE_MS);
    const { cluster, status } = await state();
    expect(cluster).toMatchObject({ live: 3, silent: [], other_version: ['older'] });
    expect(status.text).toContain('What older does is missing: another version.');
  });
});
