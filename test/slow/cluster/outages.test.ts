import { Redis } from 'ioredis';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { gatewayId, type RedisOptions } from '../../../cluster/index.js';
import { programId, tenantId } from '../../../src/index.js';
import { claimOf, Desk, recordOf } from '../../support/shared-desk.js';
import { noRedis, RedisServer } from '../../support/redis.js';
import { UnixProxy } from '../../support/unix-proxy.js';

const WINDOW = 64;
const PROGRAM = programId('t:p');
const RECORD = recordOf(1234.5678, 3);

/** What each test has opened, the last first. */
const opened: (() => unknown)[] = [];

afterEach(async () => {
  vi.restoreAllMocks();
  for (const close of opened.splice(0).toReversed()) await close();
});

async function startServer(args: readonly string[] = []): Promise<RedisServer> {
  const server = await RedisServer.start(args);
  opened.push(() => server.stop());
  return server;
}

async function openProxy(server: RedisServer, name: string): Promise<UnixProxy> {
  const proxy = await UnixProxy.open(`${server.path}.${name}`, server.path);
  opened.push(() => proxy.close());
  return proxy;
}

/** A desk with a limit that a busy machine keeps. */
async function openDesk(
  { path }: { readonly path: string },
  name: string,
  options: Partial<RedisOptions> = {},
): Promise<Desk> {
  const place = { connection: { url: path }, pool: 'p', gateway: gatewayId(name) };
  const desk = await Desk.inRedis({ limitMs: 100, settleMs: 3000, ...place, ...options });
  opened.push(() => desk.shared.leave());
  return desk;
}

const isUp = (desk: Desk): boolean => desk.shared.state.up;
const slotsOf = (desks: readonly Desk[]): (number | undefined)[] => desks.map((desk) => desk.slots('e'));
const sumOf = (desks: readonly Desk[]): number => slotsOf(desks).reduce((sum: number, slots = 0) => sum + slots, 0);

/** Each claims what it has, keeping what it was given, and wants nothing. */
async function claimAll(desks: readonly Desk[], inFlight: readonly number[]): Promise<void> {
  for (const [i, desk] of desks.entries())
    await desk.claim([claimOf('e', { window: WINDOW, inFlight: inFlight[i]!, keeps: desk.slots('e') ?? 0 })]);
  await Promise.all(desks.map((desk) => desk.settled()));
}

/** Four gateways that have divided an engine, with calls in flight. */
async function openFour(places: readonly { readonly path: string }[]): Promise<Desk[]> {
  const desks = await Promise.all(places.map((place, i) => openDesk(place, `g${i}`)));
  await sleep(1100); // Each has heard that there are four.
  await claimAll(desks, IN_FLIGHT);
  expect(sumOf(desks)).toBe(WINDOW);
  return desks;
}
const IN_FLIGHT = [2, 10, 20, 7];
/** As above, once calls beyond an equal share have ended. */
const OBEYED = [2, 10, 16, 7];
/** Calls in flight have slots: the one with 20 has four more than its share, wherever the others have taken theirs. */
const MOST = WINDOW + 4;

describe.skipIf(noRedis !== undefined)('shared state', () => {
  it('goes on alone without a store, and no slot has two users when an empty one comes back', async () => {
    const server = await startServer();
    const desks = await openFour(Array.from({ length: 4 }, () => server));
    const [first, , , last] = desks as [Desk, Desk, Desk, Desk];
    await last.shared.take(PROGRAM);
    last.records.set(PROGRAM, RECORD);
    await server.kill();
    await Promise.all(desks.map((desk) => desk.until(() => !isUp(desk))));
    expect(slotsOf(desks)).toEqual([16, 16, 16, 16]);
    expect(await first.shared.take(PROGRAM)).toBeUndefined();
    expect(await first.shared.find(tenantId('t'), ['k'])).toBeUndefined();

    let most = 0;
    for (const desk of desks) {
      const hear = desk.parts.bind(desk);
      desk.parts = (parts) => {
        hear(parts);
        most = Math.max(most, sumOf(desks));
      };
    }
    await server.start();
    await Promise.all(desks.map((desk) => desk.until(() => isUp(desk))));
    await Promise.all(desks.map((desk) => desk.settled()));
    expect(most).toBeLessThanOrEqual(MOST);
    await claimAll(desks, OBEYED);
    expect(sumOf(desks)).toBe(WINDOW);
    expect(await first.shared.take(PROGRAM)).toEqual({ from: 'g3', record: RECORD });
  });

  it('keeps within its limits while the store stands still for ten seconds', async () => {
    const server = await startServer();
    const desks = await openFour(Array.from({ length: 4 }, () => server));
    const [first] = desks as [Desk, Desk, Desk, Desk];
    server.pause();
    const until = performance.now() + 10_000;
    let [asked, slowestMs] = [0, 0];
    while (performance.now() < until) {
      const startedAt = performance.now();
      await first.shared.take(programId(`t:${asked}`));
      first.shared.remember(tenantId('t'), `k${asked}`, PROGRAM);
      first.shared.put(PROGRAM, RECORD);
      slowestMs = Math.max(slowestMs, performance.now() - startedAt);
      asked += 1;
      await sleep(1);
    }
    expect(asked).toBeGreaterThan(100);
    expect(slowestMs).toBeLessThan(500);
    expect(slotsOf(desks)).toEqual([16, 16, 16, 16]);
    // Three that were late, a heartbeat a second, and the connection that was given up.
    expect(first.shared.state.failures).toBeLessThan(30);
    server.resume();
    await Promise.all(desks.map((desk) => desk.until(() => isUp(desk))));
    await Promise.all(desks.map((desk) => desk.settled()));
    expect(sumOf(desks)).toBe(WINDOW);
  });

  it('counts calls in flight at once when a replica without the last claims is promoted', async () => {
    const primary = await startServer();
    const replica = await startServer();
    const proxies = await Promise.all([0, 1, 2, 3].map((i) => openProxy(primary, `${i}`)));
    const [old, young] = await Promise.all([primary, replica].map(adminOf));
    const desks = await openFour(proxies);
    await copyTo(old!, young!);
    // These claims and this move are lost.
    await claimAll(desks, [40, 1, 1, 1]);
    const [first, second] = desks as [Desk, Desk, Desk, Desk];
    await first.shared.take(PROGRAM);
    for (const proxy of proxies) proxy.lead(replica.path);
    await Promise.all(desks.map((desk) => desk.until(() => !isUp(desk))));
    await Promise.all(desks.map((desk) => desk.until(() => isUp(desk))));
    await Promise.all(desks.map((desk) => desk.settled()));
    // 40 in flight, and what others hold by the older ledger: it starts no call above its share before they claim less.
    expect(first.slots('e')).toBe(WINDOW / 4);
    await claimAll(desks, [40, 1, 1, 1]);
    expect(second.engines.get(claimOf('e').engine)?.inFlight).toBe(42);
    expect((await second.shared.take(PROGRAM))?.record).toBeUndefined();
  });

  it('returns the slots of a gateway that is gone, and counts it anew if it lives on', async () => {
    const server = await startServer();
    const proxy = await openProxy(server, 'x');
    const leaseMs = 3000;
    const [cut, other] = [await openDesk(proxy, 'cut', { leaseMs }), await openDesk(server, 'other', { leaseMs })];
    await sleep(1100);
    await claimAll([cut, other], [5, 5]);
    expect(slotsOf([cut, other])).toEqual([32, 32]);
    proxy.hold();
    await cut.until(() => !isUp(cut));
    expect(cut.slots('e')).toBe(32);
    await other.until(() => other.slots('e') === WINDOW);
    expect(other.shared.state.live).toBe(1);
    proxy.release();
    await cut.until(() => isUp(cut));
    await Promise.all([cut.settled(), other.settled()]);
    // The other holds all of them until it has heard.
    expect(slotsOf([cut, other])).toEqual([5, WINDOW / 2]);
    // It hears that calls wait elsewhere, and gives its unused slots up.
    await cut.claim([claimOf('e', { window: WINDOW, inFlight: 5, keeps: 5, waiting: [40] })]);
    await other.settled();
    expect(other.engines.get(claimOf('e').engine)?.waitingLevel).toBe(0);
    await other.claim([claimOf('e', { window: WINDOW, inFlight: 5, keeps: 5 })]);
    await cut.settled();
    expect(slotsOf([cut, other])).toEqual([45, 19]);
  });

  it('knows no clock but the store’s', async () => {
    const server = await startServer();
    const desks = [await openDesk(server, 'a', { leaseMs: 2000 }), await openDesk(server, 'b', { leaseMs: 2000 })];
    await sleep(1100);
    await claimAll(desks, [1, 1]);
    const now = Date.now.bind(Date);
    vi.spyOn(Date, 'now').mockImplementation(() => now() + 3_600_000);
    await sleep(3000);
    expect(desks.map(({ shared }) => shared.state)).toMatchObject([{ up: true, live: 2 }, { up: true, live: 2 }]); // prettier-ignore
    expect(slotsOf(desks)).toEqual([32, 32]);
    expect(desks.map(({ changes }) => changes)).toEqual([1, 1]);
  });

  it('is not used while it is slow, and does not come and go', async () => {
    const server = await startServer();
    const proxy = await openProxy(server, 'x');
    const desk = await openDesk(proxy, 'g');
    proxy.delay(150);
    for (let i = 0; desk.shared.state.up; i += 1) await desk.shared.take(programId(`t:${i}`));
    const { changes } = desk;
    await sleep(3500);
    expect(desk.changes).toBe(changes);
    proxy.delay(0);
    await desk.until(() => isUp(desk));
  });

  it('is emptied while in use: claims and records are told anew', async () => {
    const server = await startServer();
    const desks = await openFour(Array.from({ length: 4 }, () => server));
    const admin = await adminOf(server);
    desks[0]!.records.set(PROGRAM, RECORD);
    await admin.flushall();
    await vi.waitUntil(async () => (await admin.hlen('maitred:{p}:programs:young')) === 1, 5000);
    await Promise.all(desks.map((desk) => desk.settled()));
    await sleep(2200); // All have sent a sign of life.
    expect(sumOf(desks)).toBeLessThanOrEqual(MOST);
    await claimAll(desks, OBEYED);
    expect(sumOf(desks)).toBe(WINDOW);
    expect(await admin.zcard('maitred:{p}:gateways')).toBe(4);
  });
});

async function adminOf({ path }: RedisServer): Promise<Redis> {
  const admin = new Redis(path, { lazyConnect: true });
  await admin.connect();
  opened.push(() => admin.disconnect());
  return admin;
}

/** As a replica has it: what was written until now. */
async function copyTo(from: Redis, to: Redis): Promise<void> {
  for (const key of await from.keys('*')) {
    const [copy, ttlMs] = [await from.dumpBuffer(key), await from.pttl(key)];
    await to.restore(key, ttlMs, copy);
  }
}
