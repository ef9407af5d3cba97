import { join } from 'node:path';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import pino from 'pino';
import { describe, expect, it } from 'vitest';
import type { RedisState } from '../../../cluster/index.js';
import type { LineAnswer } from '../../../sidecar/batches/run.js';
import { BatchSeat } from '../../../sidecar/batches/seat.js';
import { tenantId } from '../../../src/index.js';
import { folderOf } from '../../support/folder.js';
import { cleanUp, configOf, until } from '../gateway/world.js';
import { CHAT, lineOf } from './service.js';

const A = tenantId('a');
const OK: LineAnswer = { status: 200, body: Buffer.from('{}'), isBusy: false };
const LEASE_MS = 1000;

/** Gateways with one folder and one store, whose clock and answers are the test's. */
function stage() {
  const folder = join(folderOf({}), 'made', 'here');
  const clock = { now: 0 };
  /** Who holds the batches, and until when. */
  let lease: { name: string; untilMs: number } | undefined;
  const open = async (name: string) => {
    const beats: (() => void)[] = [];
    const asked: { id: string; answer: (answer: LineAnswer | undefined) => void }[] = [];
    const isCut = { value: false };
    const hold: RedisState['hold'] = (_, address, leaseMs) => {
      if (isCut.value) return Promise.resolve(undefined);
      if (lease !== undefined && lease.name !== name && clock.now < lease.untilMs)
        return Promise.resolve({ isOwn: false, value: `http://${lease.name}` });
      lease = { name, untilMs: clock.now + leaseMs };
      return Promise.resolve({ isOwn: leaseMs > 0, value: address });
    };
    const { batches: config } = configOf([], { batches: { folder, inFlightMax: 2 } });
    const seat = await BatchSeat.open({
      folder,
      cluster: { store: { hold }, address: `http://${name}`, leaseMs: LEASE_MS, heartbeatMs: 1 },
      batches: {
        config: () => config,
        ask: (_, { id }) => new Promise((answer) => asked.push({ id, answer })),
        unserved: () => undefined,
        ended: () => undefined,
        engines: () => [],
        now: () => 1.8e12,
        setTimer: () => () => undefined,
        log: pino({ level: 'silent' }),
      },
      now: () => clock.now,
      setTimer: (fn) => {
        beats.push(fn);
        return () => undefined;
      },
    });
    await seat.start();
    const begin = () => beats.at(-1)!();
    const beat = async () => {
      const count = beats.length;
      begin();
      await until(() => beats.length > count);
    };
    const leave = () => {
      for (const { answer } of asked) answer(undefined);
      return seat.close();
    };
    cleanUp(leave);
    return { seat, asked, begin, beat, isCut, leave };
  };
  return { open, clock };
}

async function batchOf({ batches }: BatchSeat): Promise<string> {
  const shelf = batches!.shelf(A);
  writeFileSync(shelf.pathOf('file-in'), ['a', 'b', 'c'].map((id) => lineOf(id)).join('\n'));
  await shelf.addFile({
    id: 'file-in',
    object: 'file',
    bytes: 1,
    created_at: 0,
    expires_at: 1e12,
    filename: 'x',
    purpose: 'batch',
    status: 'processed',
  });
  const { id } = await batches!.create(A, { input_file_id: 'file-in', endpoint: CHAT, completion_window: '24h' });
  return id;
}

describe('in a cluster', () => {
  it('one gateway has the batches; when it dies, another goes on with what is answered', async () => {
    const { open, clock } = stage();
    const [one, two] = [await open('one'), await open('two')];
    expect([two.seat.batches, two.seat.holder]).toEqual([undefined, 'http://one']);
    const id = await batchOf(one.seat);
    await until(() => one.asked.length === 2);
    one.asked[0]!.answer(OK);
    await until(() => one.asked.length === 3);
    // The first is cut off: it can renew nothing.
    one.isCut.value = true;
    clock.now = LEASE_MS;
    expect(one.seat.batches).toBeUndefined();
    await two.beat();
    const shelf = two.seat.batches!.shelf(A);
    await until(() => two.asked.length === 2);
    // What comes too late is not written: it is asked again elsewhere.
    one.asked[1]!.answer(OK);
    await one.beat();
    for (const { answer } of two.asked) answer(OK);
    await until(() => shelf.batches.get(id)?.status === 'completed');
    expect(shelf.batches.get(id)?.request_counts).toEqual({ total: 3, completed: 3, failed: 0 });
    expect(new Set(two.asked.map((line) => line.id))).toEqual(new Set(one.asked.slice(1).map((line) => line.id)));
  });

  it('what a gateway asked before it lost the batches is not written once it has them again', async () => {
    const { open, clock } = stage();
    const one = await open('one');
    const id = await batchOf(one.seat);
    await until(() => one.asked.length === 2);
    one.isCut.value = true;
    clock.now = LEASE_MS;
    await one.beat();
    one.isCut.value = false;
    await one.beat();
    await until(() => one.asked.length === 4);
    for (const { answer } of one.asked.slice(2)) answer(OK);
    await until(() => one.asked.length === 5);
    for (const { answer } of one.asked.slice(0, 2)) answer({ ...OK, body: Buffer.from('{"of":"before"}') });
    one.asked[4]!.answer(OK);
    const shelf = one.seat.batches!.shelf(A);
    await until(() => shelf.batches.get(id)?.status === 'completed');
    const output = readFileSync(shelf.pathOf(shelf.batches.get(id)!.output_file_id!), 'utf8');
    expect(output.trim().split('\n')).toHaveLength(3);
    expect(output).not.toContain('before');
  });

  it('a gateway that ends gives the batches up at once', async () => {
    const { open } = stage();
    const [one, two] = [await open('one'), await open('two')];
    await one.leave();
    await two.beat();
    expect([two.seat.batches !== undefined, two.seat.holder]).toEqual([true, undefined]);
  });

  it('a gateway that leaves ends the lines of engines with its lease, then gives the batches up for good', async () => {
    const { open, clock } = stage();
    const [one, two] = [await open('one'), await open('two')];
    const id = await batchOf(one.seat);
    await until(() => one.asked.length === 2);
    const left = one.seat.leave();
    clock.now = LEASE_MS - 1;
    await one.beat();
    clock.now = LEASE_MS;
    await two.beat();
    expect(two.seat.holder).toBe('http://one');
    const { shelf } = one.seat.batches!.find(id)!;
    for (const { answer } of one.asked) answer(OK);
    await left;
    // An upload that ends now would be unknown where the batches are.
    await expect(shelf.change(id, {})).rejects.toThrow('No gateway has taken over');
    await two.beat();
    await until(() => two.asked.length === 1);
    two.asked[0]!.answer(OK);
    await until(() => two.seat.batches!.find(id)!.batch.status === 'completed');
    await two.leave();
    expect([one.asked.length, one.seat.batches]).toEqual([2, undefined]);
  });

  it('a gateway that leaves takes over no batches, even if it is just offered them', async () => {
    const { open } = stage();
    const [one, two] = [await open('one'), await open('two')];
    await one.leave();
    two.begin();
    await two.leave();
    const three = await open('three');
    expect([two.seat.batches, three.seat.batches !== undefined]).toEqual([undefined, true]);
  });

  it('without an answer of the store nobody begins, and the holder ends with its lease', async () => {
    const { open, clock } = stage();
    const one = await open('one');
    one.isCut.value = true;
    clock.now = LEASE_MS - 1;
    await one.beat();
    expect(one.seat.batches).toBeDefined();
    clock.now = LEASE_MS;
    await one.beat();
    expect(one.seat.batches).toBeUndefined();
    one.isCut.value = false;
    await one.beat();
    expect(one.seat.batches).toBeDefined();
  });
});

it('fails at a folder that the system cannot make', async () => {
  const opened = (folder: string) =>
    BatchSeat.open({ folder, cluster: undefined } as unknown as Parameters<typeof BatchSeat.open>[0]);
  await expect(opened('/proc/none/here')).rejects.toThrow(/^batches\.folder: \/proc takes no new folder: /);
  const long = join(folderOf({}), 'x'.repeat(300));
  await expect(opened(long)).rejects.toThrow(/^batches\.folder: cannot be made: ENAMETOOLONG/);
  const link = join(folderOf({}), 'link');
  symlinkSync('/nowhere', link);
  await expect(opened(link)).rejects.toThrow(/^batches\.folder: .*link takes no new folder: /);
});

it.runIf(process.platform === 'linux')(
  'keeps its folder from another gateway of the machine until it closes',
  async () => {
    const ports = {
      folder: folderOf({}),
      cluster: undefined,
      now: () => 0,
      batches: { log: pino({ level: 'silent' }) },
    } as unknown as Parameters<typeof BatchSeat.open>[0];
    const seat = await BatchSeat.open(ports);
    await expect(BatchSeat.open(ports)).rejects.toThrow('batches.folder: another gateway of this machine uses it');
    await seat.close();
    await (await BatchSeat.open(ports)).close();
  },
);
