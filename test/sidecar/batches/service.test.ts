import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import v8 from 'node:v8';
import pino from 'pino';
import { describe, expect, it, vi } from 'vitest';
import { Batches, type BatchPorts } from '../../../sidecar/batches/batches.js';
import { ofDisk } from '../../../sidecar/batches/line-file.js';
import { Results } from '../../../sidecar/batches/results.js';
import type { LineAnswer, LineRequest } from '../../../sidecar/batches/run.js';
import { engineId, tenantId, type TenantId } from '../../../src/index.js';
import { cleanUp, configOf, until } from '../gateway/world.js';
import { folderOf } from '../../support/folder.js';
import { CHAT, lineOf } from './service.js';

const OK: LineAnswer = { status: 200, body: Buffer.from('{}'), isBusy: false };
const A = tenantId('a');
const B = tenantId('b');
const DAY = 86_400_000;

/** Batches whose clock, timers and answers are the test's. */
type Given = Partial<BatchPorts> & { readonly inFlightMax?: number; readonly openMax?: number };
async function stage(folder = folderOf({}), { inFlightMax = 4, openMax = 50, ...more }: Given = {}) {
  const clock = { now: 1_800_000_000_000 };
  const timers = new Set<{ fn: () => void; ms: number }>();
  const asked: { id: string; tenant: TenantId; signs: LineRequest; isBackground: boolean; answer: (answer: LineAnswer | undefined) => void }[] = []; // prettier-ignore
  const { batches: config } = configOf([], { batches: { folder, inFlightMax, openMax } });
  const batches = await Batches.open(folder, {
    config: () => config,
    ask: (tenant, line) =>
      new Promise((answer) => asked.push({ id: line.id, tenant, signs: line, isBackground: !line.isLate, answer })),
    unserved: () => undefined,
    ended: () => undefined,
    engines: () => [],
    isOurs: () => true,
    now: () => clock.now,
    setTimer: (fn, ms) => {
      const timer = { fn, ms };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    log: pino({ level: 'silent' }),
    ...more,
  });
  await batches.start();
  const close = async () => {
    const closed = batches.close();
    for (const { answer } of asked) answer(undefined);
    await closed;
  };
  cleanUp(close);
  /** Lets `ms` pass, and what is due happen. */
  const pass = (ms: number) => {
    clock.now += ms;
    for (const timer of [...timers])
      if (timer.ms <= ms) {
        timers.delete(timer);
        timer.fn();
      }
  };
  const make = async (tenant: TenantId, lines: readonly string[], window = '24h') => {
    const shelf = batches.shelf(tenant);
    const id = `file-${shelf.files.size}in`;
    writeFileSync(shelf.pathOf(id), lines.join('\n'));
    const at = clock.now / 1000;
    await shelf.addFile({ id, object: 'file', bytes: 1, created_at: at, expires_at: at + 86_400, filename: 'x', purpose: 'batch', status: 'processed' }); // prettier-ignore
    const batch = await batches.create(tenant, { input_file_id: id, endpoint: CHAT, completion_window: window });
    return { shelf, id: batch.id, shown: () => batches.shown(shelf, batch.id) };
  };
  return { batches, clock, asked, pass, make, folder, close };
}

const lines = (count: number) => Array.from({ length: count }, (_, index) => lineOf(`l${index}`));

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => from + at);

describe('batches', () => {
  it('start lines in their order up to a number, of which few wait for an engine', async () => {
    const { asked, make } = await stage(undefined, { inFlightMax: 40 });
    await make(A, lines(60));
    await until(() => asked.length === 16);
    for (const { signs } of asked) signs.waits(false);
    await until(() => asked.length === 32);
    for (const { signs } of asked) signs.waits(false);
    await until(() => asked.length === 40);
    asked[0]!.answer(OK);
    await until(() => asked.length === 41);
  });

  it('go to the engine of their part, and at the end to any', async () => {
    const engines = ['e0', 'e1'].map(engineId);
    const { asked, make } = await stage(undefined, { inFlightMax: 40, engines: () => engines });
    await make(A, lines(24));
    await until(() => asked.length === 16);
    const numbersOf = (engine: string) => asked.flatMap(({ id, signs }) => (signs.engine === engineId(engine) ? [Number(id.split('_').at(-1))] : [])).sort((a, b) => a - b); // prettier-ignore
    expect([numbersOf('e0'), numbersOf('e1')]).toEqual([range(0, 8), range(12, 20)]);
    for (const { signs } of asked) if (signs.engine === engines[1]) signs.waits(false);
    await until(() => asked.length === 24);
    expect(numbersOf('e1')).toEqual(range(8, 24));
  });

  it('have garbage collected more often, until the last of them has ended', async () => {
    const set = vi.spyOn(v8, 'setFlagsFromString');
    syncBuiltinESMExports();
    const percent = () => set.mock.lastCall?.[0].split('=')[1];
    const { asked, make } = await stage();
    const [first, second] = [await make(A, lines(1)), await make(B, lines(1))];
    await until(() => asked.length === 2);
    asked[0]!.answer(OK);
    await until(() => first.shown().status === 'completed');
    const faulty = await make(A, ['{']);
    await until(() => faulty.shown().status === 'failed');
    expect(percent()).toBe('60');
    asked[1]!.answer(OK);
    await until(() => second.shown().status === 'completed' && percent() === '0');
    set.mockRestore();
    syncBuiltinESMExports();
  });

  it('of the tenant with the fewest lines under way go first', async () => {
    const { asked, make } = await stage();
    await make(A, lines(3));
    await until(() => asked.length === 3);
    await make(B, lines(1));
    const { shown } = await make(A, lines(5));
    await until(() => shown().status === 'in_progress');
    asked[0]!.answer(OK);
    await until(() => asked.length === 4);
    expect(asked.map(({ tenant }) => tenant)).toEqual([A, A, A, B]);
  });

  it('are background calls until their window is about to end', async () => {
    const { asked, make, pass } = await stage(undefined, { inFlightMax: 1 });
    const { shown } = await make(A, lines(3), '1h');
    await until(() => asked.length === 1);
    pass(1_900_000);
    asked[0]!.answer({ ...OK, isBusy: true });
    await until(() => asked.length === 2);
    expect(asked.map(({ isBackground }) => isBackground)).toEqual([true, false]);
    expect(shown().request_counts.completed).toBe(0);
  });

  it('of a late batch start although others hold all places', async () => {
    const { asked, make, pass } = await stage(undefined, { inFlightMax: 20 });
    await make(A, lines(60));
    await until(() => asked.length === 16);
    for (const { signs } of asked.slice(0, 4)) signs.waits(false);
    await until(() => asked.length === 20);
    const { shown } = await make(A, lines(30), '1m');
    await until(() => shown().status === 'in_progress');
    pass(20_000);
    expect(asked).toHaveLength(20);
    pass(11_000);
    await until(() => asked.length === 36);
    for (const { signs } of asked) signs.waits(false);
    await until(() => asked.length === 40);
    expect(asked.map(({ isBackground }) => isBackground)).toEqual([...Array<boolean>(20).fill(true), ...Array<boolean>(20).fill(false)]); // prettier-ignore
    // Places that come free go to the one whose window ends first.
    asked[0]!.answer(OK);
    asked[20]!.answer(OK);
    await until(() => asked.length === 41);
    expect(asked[40]!.isBackground).toBe(false);
  });

  it('that wait in the background are asked again as calls like all others once their batch is late', async () => {
    const { asked, make, pass } = await stage();
    await make(A, lines(3), '1m');
    await until(() => asked.length === 3);
    asked[0]!.signs.waits(false);
    pass(31_000);
    for (const { signs, answer } of asked.splice(1)) answer(signs.signal.aborted ? undefined : OK);
    await until(() => asked.length === 3);
    pass(1_000);
    expect(asked.map(({ isBackground }) => isBackground)).toEqual([true, false, false]);
    expect(asked.map(({ signs }) => signs.signal.aborted)).toEqual([true, false, false]);
  });

  it('of one tenant go to the batch first whose window ends first', async () => {
    const { asked, make } = await stage(undefined, { inFlightMax: 1 });
    await make(A, lines(3));
    await until(() => asked.length === 1);
    const { id, shown } = await make(A, lines(3), '12h');
    await until(() => shown().status === 'in_progress');
    asked[0]!.answer(OK);
    await until(() => asked.length === 2);
    expect(asked[1]!.id).toContain(id.replace('batch_', ''));
  });

  it('tell their end without the time in which no engine was up', async () => {
    const engines = [engineId('e0')];
    const { batches, asked, make, pass } = await stage(undefined, { engines: () => engines, inFlightMax: 1 });
    await make(A, lines(7));
    await until(() => asked.length === 1);
    const rest = () => batches.underWay()[0]?.restMs;
    for (let at = 0; at < 2; at++) pass(1000);
    for (let at = 0; at < 3; at++) {
      expect(rest()).toBeUndefined();
      asked[at]!.answer(OK);
      await until(() => asked.length === at + 2);
    }
    expect(rest()).toBe(2000);
    engines.length = 0;
    for (let at = 0; at < 60; at++) pass(1000);
    expect(rest()).toBe(2000);
  });

  it('that are cancelled give up the lines that wait', async () => {
    const { batches, asked, make } = await stage();
    const { id, shown } = await make(A, lines(4));
    await until(() => asked.length === 4);
    asked[0]!.signs.waits(false);
    await batches.cancel(A, id);
    expect(asked.every(({ signs }) => signs.signal.aborted)).toBe(true);
    for (const { answer } of asked.slice(1)) answer(undefined);
    asked[0]!.answer(OK);
    await until(() => shown().status === 'cancelled');
    expect(shown().request_counts).toEqual({ total: 4, completed: 1, failed: 0 });
  });

  it('expire with their window; what is under way still counts', async () => {
    const { asked, make, pass } = await stage();
    const { shown, shelf } = await make(A, lines(3), '60s');
    await until(() => asked.length === 3);
    asked[0]!.signs.waits(false);
    pass(60_000);
    asked[0]!.answer(OK);
    for (const { answer } of asked.slice(1)) answer(undefined);
    await until(() => shown().status === 'expired');
    expect(shown()).toMatchObject({ request_counts: { total: 3, completed: 1, failed: 0 }, completed_at: null });
    expect(shelf.files.has(shown().error_file_id!)).toBe(true);
  });

  it('keep their state through the end of the process at any status', async () => {
    const one = await stage();
    const { id } = await one.make(A, lines(2));
    await until(() => one.asked.length === 2);
    await one.batches.cancel(A, id);
    await one.close();
    // The process was killed while it wrote.
    for (const name of [id, 'batch_new']) writeFileSync(`${one.folder}/t-a/${name}.json.part`, '{"status":"comp');
    writeFileSync(`${one.folder}/t-a/file-left`, 'x');
    const two = await stage(one.folder);
    const shelf = two.batches.shelf(A);
    await until(() => shelf.batches.get(id)?.status === 'cancelled');
    expect(shelf.batches.get(id)).toMatchObject({ request_counts: { total: 2, completed: 0, failed: 0 }, output_file_id: null }); // prettier-ignore
    expect(readdirSync(shelf.folder).filter((name) => /new|left/.test(name))).toEqual([]);
    const three = await stage(one.folder);
    expect(three.batches.shelf(A).batches.get(id)?.status).toBe('cancelled');
  });

  it('that are cancelled while they are read end as cancelled, without an answer', async () => {
    const { batches, asked, make } = await stage();
    const { id, shown } = await make(A, lines(3));
    const both = await Promise.all([batches.cancel(A, id), batches.cancel(A, id)]);
    expect(both.map(({ status }) => status)).toEqual(['cancelling', 'cancelling']);
    await until(() => shown().status === 'cancelled');
    expect([asked, shown().in_progress_at, shown().request_counts.failed]).toEqual([[], null, 0]);
    await expect(batches.cancel(A, id)).rejects.toMatchObject({ code: 'batch_ended', status: 409 });
  });

  it('that are made at the same time are bounded together', async () => {
    const { batches, make } = await stage(undefined, { openMax: 2 });
    const { shown } = await make(A, lines(1));
    const { input_file_id: input, endpoint } = shown();
    const request = { input_file_id: input, endpoint, completion_window: '24h' };
    const made = await Promise.allSettled([batches.create(A, request), batches.create(A, request)]);
    expect(made).toMatchObject([{ status: 'fulfilled' }, { status: 'rejected', reason: { code: 'batches_full' } }]);
  });

  it('on a full disk are refused with a clear error, and nothing is left of them', async () => {
    const { batches } = await stage();
    const shelf = batches.shelf(A);
    await shelf.addFile({ id: 'file-x', object: 'file', bytes: 1, created_at: 0, expires_at: 1e12, filename: 'x', purpose: 'batch', status: 'processed' }); // prettier-ignore
    const request = { input_file_id: 'file-x', endpoint: CHAT, completion_window: '24h' };
    rmSync(shelf.folder, { recursive: true });
    await expect(batches.create(A, request)).rejects.toMatchObject({ code: 'ENOENT' });
    const full = Object.assign(new Error('full'), { code: 'ENOSPC' });
    expect(ofDisk(full)).toMatchObject({ code: 'storage_full', status: 507 });
    expect(shelf.batches.size).toBe(0);
  });

  it('wait while a full disk takes neither their new files nor their ends, and then go on', async () => {
    const { make, asked, pass } = await stage();
    const full = Object.assign(new Error('full'), { code: 'ENOSPC' });
    vi.spyOn(Results, 'open').mockRejectedValueOnce(full);
    const { shelf, shown } = await make(A, lines(1));
    await until(() => (pass(5000), asked.length === 1));
    const addFile = vi.spyOn(shelf, 'addFile').mockRejectedValueOnce(full);
    asked[0]!.answer(OK);
    await until(() => addFile.mock.calls.length === 1);
    expect(shown().status).toBe('finalizing');
    await until(() => (pass(5000), shown().status === 'completed'));
    expect(addFile.mock.calls.length).toBe(2);
  });

  it('whose input is lost fail, and the others go on', async () => {
    const { make, asked, batches } = await stage();
    const shelf = batches.shelf(A);
    await shelf.addFile({ id: 'file-x', object: 'file', bytes: 1, created_at: 0, expires_at: 1e12, filename: 'x', purpose: 'batch', status: 'processed' }); // prettier-ignore
    const { id } = await batches.create(A, { input_file_id: 'file-x', endpoint: CHAT, completion_window: '24h' });
    await make(B, lines(1));
    await until(() => asked.length === 1);
    expect(batches.shown(shelf, id)).toMatchObject({ status: 'failed', errors: { data: [{ code: 'internal' }] } });
  });

  it('and files that are too old are removed, also beside one that the system keeps', async () => {
    const { make, clock, asked, close, folder } = await stage();
    const { shelf: before, shown } = await make(A, lines(1));
    await until(() => asked.length === 1);
    asked[0]!.answer(OK);
    await until(() => shown().status === 'completed');
    await before.addFile({ ...[...before.files.values()][0]!, id: 'file-stuck' });
    mkdirSync(before.pathOf('file-stuck'));
    await close();
    const shelf = (await stage(folder, { now: () => clock.now + 31 * DAY })).batches.shelf(A);
    expect([shelf.batches.size, shelf.files.size, readdirSync(shelf.folder)]).toEqual([0, 0, ['file-stuck']]);
  });
});

it('looks at no more models that no engine serves than it tells of', async () => {
  const looked = new Set<string>();
  const unserved = (model: string) => `None has ${String(looked.add(model).size)}.`;
  const { make } = await stage(undefined, { unserved });
  const lines = Array.from({ length: 150 }, (_, at) => lineOf(`l${at}`, '', { body: { model: `m${at}`, messages: [{ role: 'user', content: 'x' }] } })); // prettier-ignore
  const { shown } = await make(A, lines);
  await until(() => shown().status === 'in_progress');
  expect([looked.size, shown().warnings?.data.length]).toEqual([100, 100]);
});
