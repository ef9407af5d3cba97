import { expect, it } from 'vitest';
import type { EndedPrograms } from '../../../sidecar/admin/answers.js';
import { run } from '../../support/command-line.js';
import {
  completion,
  fakeEngine,
  gate,
  held,
  heldEngine,
  lone,
  named,
  ONE_AT_A_TIME,
  post,
  replies,
  until,
  world,
  type World,
} from '../gateway/world.js';
import { batchOf, create, inFolder, lineOf, reached, shown, upload } from './service.js';

const FOUR = ['a', 'b', 'c', 'd'].map((id) => lineOf(id));

/** Whether each program that has ended had an answer at last. */
const answered = async ({ read }: Pick<World, 'read'>): Promise<boolean[]> =>
  (await read<EndedPrograms>('/ended')).programs.map((program) => program.answered);

it('an ended batch is among the last ten that operators see, the last to end first', async () => {
  const { url, read } = await lone(undefined, inFolder());
  const ids: string[] = [];
  for (let at = 0; at < 11; at += 1) {
    const file = (await upload(url, 'no JSON')).json();
    ids.unshift(String((await create(url, file['id'])).json()['id']));
    await reached(url, ids[0]!, 'failed');
  }
  const ended_batches = ids.slice(0, 10).map((id) => ({ id }));
  expect(await read('/gateway')).toMatchObject({ ended_batches });
});

it('a model that no engine serves is told while its lines are asked again, and no longer once it comes up', async () => {
  const { url, adminUrl, read } = await lone(undefined, inFolder());
  // One that has not been reached may serve any model.
  await post(`${adminUrl}/engines`, { url: 'http://127.0.0.1:9' });
  const id = await batchOf(url, [
    lineOf('a'),
    lineOf('b', '', { body: { model: 'zz', messages: [{ role: 'user', content: 'x' }] } }),
  ]);
  const why = async () => (await read<{ text: string }>(`/programs/${id}/explain`)).text;
  const rows = () => read<{ batches: { text: string }[]; ended_batches: { text: string }[] }>('/gateway');
  const told = 'No engine serves the model "zz". There are: m.';
  await until(async () => (await why()).includes('Line 2 pauses for'));
  expect(await why()).toContain(told);
  expect((await rows()).batches[0]?.text).toContain(told);
  expect((await shown(url, id))['warnings']).toMatchObject({ data: [{ code: 'unknown_model', line: 2 }] });
  await post(`${adminUrl}/engines`, { url: (await fakeEngine(undefined, ['zz'])).url });
  await until(async () => (await shown(url, id))['warnings'] === null);
  expect(await reached(url, id, 'completed')).toMatchObject({ warnings: null, failures: null });
  const failing = await batchOf(url, [
    lineOf('a', '', { body: { model: 'm', messages: { $ref: 'b', path: 'object' } } }),
    lineOf('b'),
  ]);
  const failures = { data: [{ code: 'invalid_body', line: 1 }] };
  expect(await reached(url, failing, 'completed')).toMatchObject({ errors: null, failures });
  const { text } = (await rows()).ended_batches[0] ?? {};
  expect(text).toContain('\nLine 1 failed: ');
  expect((await read<{ text: string }>(`/programs/${failing}/explain`)).text).toContain(text);
});

it('a batch that no engine can run is explained by that first, and without a forecast', async () => {
  const { opened, open } = gate();
  const engine = await fakeEngine(async (...asked) => {
    if (engine.seen.length > 1) await opened;
    await completion()(...asked);
  });
  const { url, adminUrl, read } = await world([engine], { ...ONE_AT_A_TIME, ...inFolder() });
  const id = await batchOf(url, FOUR.slice(1));
  await until(() => engine.seen.length === 2);
  const why = async (of = id) =>
    (await read<{ text: string }>(`/programs/${of}/explain`)).text.replace(/Its window.*/, '');
  await post(`${adminUrl}/engines/${new URL(engine.url).host}/drain?force`, {});
  expect(await why()).toContain(`Batch ${id} of tenant default cannot go on, as no engine is up: `);
  expect(await why()).not.toContain('the pace so far');
  expect(await read('/gateway')).toMatchObject({ batches: [{ id, rest_seconds: null, pace: '' }] });
  expect(await why(id.slice(0, 12))).toBe(await why());
  const end = () => run(['end', id, '--url', adminUrl]);
  expect(await end()).toMatchObject({
    code: 0,
    out: `Batch ${id} of tenant default is being cancelled, and its running lines finish first: 1 of 3 lines answered, 0 failed. Its answers are kept.\n`,
  });
  expect(await why()).toContain(
    ' is being cancelled, and its running lines finish first: 1 of 3 lines answered, 0 failed.',
  );
  open();
  expect(await reached(url, id, 'cancelled')).toMatchObject({ request_counts: { total: 3, completed: 2, failed: 0 } });
  expect((await end()).out).toMatch(/^Batch .* is cancelled: 2 of 3 lines answered, .* Its answers are kept\.\n$/);
  expect(await why()).toContain('; cancelled before the other 1 was answered: see /v1/files/');
});

it('lines that a cancelled batch takes back are none that a client has left', async () => {
  const all = await held({ ...ONE_AT_A_TIME, ...inFolder() });
  const { url, open, waiting, counted } = all;
  const id = await batchOf(url, FOUR.slice(1));
  await until(async () => (await waiting()) === 2);
  await post(`${url}/v1/batches/${id}/cancel`, {});
  open();
  await reached(url, id, 'cancelled');
  const ends = ['completed', 'recalled', 'cancelled'].map((end) => counted(`calls_ended_total{outcome="${end}"}`));
  expect(await Promise.all(ends)).toEqual([1, 2, 0]);
  expect(await answered(all)).toEqual([false, false, true]);
});

it('lines that wait for an engine of theirs go to others once it is down', async () => {
  const [a, b] = [await heldEngine(), await heldEngine()];
  const health = { failuresMax: 1, intervalMs: 100, timeoutMs: 5000, backoffMs: 500 };
  const all = await world([a.engine, b.engine], {
    ...ONE_AT_A_TIME,
    ...inFolder(),
    health,
    timeouts: { noEngineMs: 600_000 },
  });
  const { url, chat, waiting, counted } = all;
  const calls = [chat({}, named('p')), chat({}, named('q'))];
  await until(() => a.engine.seen.length + b.engine.seen.length === 2);
  const id = await batchOf(url, FOUR);
  await until(async () => (await waiting()) === 4);
  await b.engine.close();
  a.open();
  expect(await reached(url, id, 'completed')).toMatchObject({ request_counts: { total: 4, completed: 4, failed: 0 } });
  expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([200, 200]);
  expect(await counted('calls_ended_total{outcome="recalled"}')).toBeGreaterThan(0);
  expect(await answered(all)).toEqual([true, true, true, true]);
});

it('a line that its engine fails goes to another one, and counts as one program', async () => {
  const failing = await fakeEngine(replies(500, {}));
  const all = await world([failing, await fakeEngine()], inFolder());
  const id = await batchOf(all.url, FOUR);
  expect(await reached(all.url, id, 'completed')).toMatchObject({ request_counts: { completed: 4 } });
  expect(failing.seen.length).toBeGreaterThan(0);
  expect(await all.counted('calls_ended_total{outcome="engine_error"}')).toBe(0);
  expect(await answered(all)).toEqual([true, true, true, true]);
});

it('lines that find all engines drained are no refused calls', async () => {
  const { url, adminUrl, engine, counted, logs } = await lone(undefined, inFolder());
  await post(`${adminUrl}/engines/${engine.id}/drain?force`, {});
  await batchOf(url, [lineOf('a')]);
  await until(() => logs.some(({ code }) => code === 'no_engine'));
  expect(await counted('calls_rejected_total{code="no_engine"}')).toBe(0);
});

it('a line that is asked again after a failure counts as one program', async () => {
  let failures = 3;
  const all = await lone((...asked) => (failures-- > 0 ? replies(500, {}) : completion())(...asked), inFolder());
  await reached(all.url, await batchOf(all.url, [lineOf('a')]), 'completed');
  expect(await all.counted('calls_ended_total{outcome="engine_error"}')).toBe(1);
  expect(await answered(all)).toEqual([true]);
});

it('a batch none of whose lines is under way is explained by those that have the places', async () => {
  const { batches } = inFolder();
  const { engine, open, url, read } = await held({ batches: { ...batches, inFlightMax: 1 } });
  const first = await batchOf(url, [lineOf('a'), lineOf('b')]);
  await until(() => engine.seen.length === 1);
  const id = await batchOf(url, [lineOf('c')]);
  await until(async () => (await shown(url, id))['status'] === 'in_progress');
  const why = async (batch: string) => (await read<{ text: string }>(`/programs/${batch}/explain`)).text;
  const told = 'It waits for a place: other batches have 1 line under way';
  expect([await why(id), await why(first)]).toEqual([expect.stringContaining(told), expect.not.stringContaining(told)]);
  open();
  await reached(url, id, 'completed');
});
