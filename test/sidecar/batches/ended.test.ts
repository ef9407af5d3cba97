import { expect, it } from 'vitest';
import { run } from '../../support/command-line.js';
import {
  ask,
  completion,
  fakeEngine,
  gate,
  heldEngine,
  named,
  ONE_AT_A_TIME,
  post,
  until,
  world,
} from '../gateway/world.js';
import { batchOf, create, inFolder, lineOf, reached, shown, upload } from './service.js';

it('an ended batch is among the last ten that operators see, the last to end first', async () => {
  const { url, adminUrl } = await world([await fakeEngine()], inFolder());
  const ids: string[] = [];
  for (let at = 0; at < 11; at += 1) {
    const file = (await upload(url, 'no JSON')).json();
    ids.unshift(String((await create(url, file['id'])).json()['id']));
    await reached(url, ids[0]!, 'failed');
  }
  const { ended_batches: ended } = (await ask(`${adminUrl}/gateway`)).json() as unknown as { ended_batches: { id: string }[] }; // prettier-ignore
  expect(ended.map(({ id }) => id)).toEqual(ids.slice(0, 10));
});

it('a model that no engine serves is told while its lines are asked again, and no longer once it comes up', async () => {
  const { url, adminUrl, read } = await world([await fakeEngine()], inFolder());
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
  expect((await ask(`${adminUrl}/programs/${failing}/explain`)).json()['text']).toContain(text);
});

it('a batch that no engine can run is explained by that first, and without a forecast', async () => {
  const { opened, open } = gate();
  const engine = await fakeEngine(async (...asked) => {
    if (engine.seen.length > 1) await opened;
    await completion()(...asked);
  });
  const { url, adminUrl } = await world([engine], { ...ONE_AT_A_TIME, ...inFolder() });
  const id = await batchOf(url, [lineOf('a'), lineOf('b'), lineOf('c')]);
  await until(() => engine.seen.length === 2);
  const why = async (of = id) =>
    String((await ask(`${adminUrl}/programs/${of}/explain`)).json()['text']).replace(/Its window.*/, '');
  await post(`${adminUrl}/engines/${new URL(engine.url).host}/drain`, {});
  expect(await why()).toContain(`Batch ${id} of tenant default cannot go on, as no engine is up: `);
  expect(await why()).not.toContain('the pace so far');
  const rows = (await ask(`${adminUrl}/gateway`)).json()['batches'];
  expect(rows).toMatchObject([{ id, rest_seconds: null, pace: '' }]);
  expect(await why(id.slice(0, 12))).toBe(await why());
  const end = () => run(['end', id, '--url', adminUrl]);
  expect(await end()).toMatchObject({ code: 0, out: `Batch ${id} of tenant default is being cancelled, and its running lines finish first: 1 of 3 lines answered, 0 failed. Its answers are kept.\n` }); // prettier-ignore
  expect(await why()).toContain(
    ' is being cancelled, and its running lines finish first: 1 of 3 lines answered, 0 failed.',
  );
  open();
  expect(await reached(url, id, 'cancelled')).toMatchObject({ request_counts: { total: 3, completed: 2, failed: 0 } });
  expect((await end()).out).toMatch(/^Batch .* is cancelled: 2 of 3 lines answered, .* Its answers are kept\.\n$/);
  expect(await why()).toContain('; cancelled before the other 1 was answered: see /v1/files/');
});

it('lines that a cancelled batch takes back are none that a client has left', async () => {
  const { engine, open } = await heldEngine();
  const { url, adminUrl } = await world([engine], { ...ONE_AT_A_TIME, ...inFolder() });
  const id = await batchOf(url, [lineOf('a'), lineOf('b'), lineOf('c')]);
  const metrics = async () => (await ask(`${adminUrl}/metrics`)).text;
  await until(async () => /^maitred_tenant_waiting_calls{[^}]*} 2$/m.test(await metrics()));
  await post(`${url}/v1/batches/${id}/cancel`, {});
  open();
  await reached(url, id, 'cancelled');
  const ended = (await metrics()).match(/^maitred_calls_ended_total.* [1-9]\d*$/gm);
  expect(ended).toEqual(['completed"} 1', 'recalled"} 2'].map((end) => `maitred_calls_ended_total{outcome="${end}`));
});

it('lines that wait for an engine of theirs go to others once it is down', async () => {
  const [a, b] = [await heldEngine(), await heldEngine()];
  const health = { failuresMax: 1, intervalMs: 100, timeoutMs: 5000, backoffMs: 500 };
  const { url, adminUrl, chat } = await world([a.engine, b.engine], { ...ONE_AT_A_TIME, ...inFolder(), health, timeouts: { noEngineMs: 600_000 } }); // prettier-ignore
  const calls = [chat({}, named('p')), chat({}, named('q'))];
  await until(() => a.engine.seen.length + b.engine.seen.length === 2);
  const id = await batchOf(
    url,
    ['a', 'b', 'c', 'd'].map((each) => lineOf(each)),
  );
  const metrics = async () => (await ask(`${adminUrl}/metrics`)).text;
  await until(async () => /^maitred_tenant_waiting_calls{[^}]*} 4$/m.test(await metrics()));
  await b.engine.close();
  a.open();
  expect(await reached(url, id, 'completed')).toMatchObject({ request_counts: { total: 4, completed: 4, failed: 0 } });
  expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([200, 200]);
  expect(await metrics()).toMatch(/^maitred_calls_ended_total.*"recalled"} [1-9]/m);
});

it('lines that find all engines drained are no refused calls', async () => {
  const { url, adminUrl, engines, logs } = await world([await fakeEngine()], inFolder());
  const [engine] = await engines();
  await post(`${adminUrl}/engines/${engine!.id}/drain`, {});
  await batchOf(url, [lineOf('a')]);
  await until(() => logs.some(({ code }) => code === 'no_engine'));
  expect((await ask(`${adminUrl}/metrics`)).text).toContain('maitred_calls_rejected_total{code="no_engine"} 0\n');
});

it('a batch none of whose lines is under way is explained by those that have the places', async () => {
  const { engine, open } = await heldEngine();
  const { batches } = inFolder();
  const { url, read } = await world([engine], { batches: { ...batches, inFlightMax: 1 } });
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
