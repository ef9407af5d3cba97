import { syncBuiltinESMExports } from 'node:module';
import v8 from 'node:v8';
import { describe, expect, it, vi } from 'vitest';
import { engineId } from '../../../src/index.js';
import { until } from '../gateway/world.js';
import { lineOf } from './service.js';
import { OK, A, B, stage, lines } from './service-stage.js';

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
    const numbersOf = (engine: string) =>
      asked
        .flatMap(({ id, signs }) => (signs.engine === engineId(engine) ? [Number(id.split('_').at(-1))] : []))
        .sort((a, b) => a - b);
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
    expect(asked.map(({ isBackground }) => isBackground)).toEqual([
      ...Array<boolean>(20).fill(true),
      ...Array<boolean>(20).fill(false),
    ]);
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
});

it('looks at no more models that no engine serves than it tells of', async () => {
  const looked = new Set<string>();
  const unserved = (model: string) => `None has ${String(looked.add(model).size)}.`;
  const { make } = await stage(undefined, { unserved });
  const lines = Array.from({ length: 150 }, (_, at) =>
    lineOf(`l${at}`, '', { body: { model: `m${at}`, messages: [{ role: 'user', content: 'x' }] } }),
  );
  const { shown } = await make(A, lines);
  await until(() => shown().status === 'in_progress');
  expect([looked.size, shown().warnings?.data.length]).toEqual([100, 100]);
});
