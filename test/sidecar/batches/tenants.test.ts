import { describe, expect, it } from 'vitest';
import { ask, configOf, keysOf, lone, post, recording, refusal, until } from '../gateway/world.js';
import { batchOf, create, inFolder, lineOf, shown, upload } from './service.js';
import { echo } from './service.js';

describe('tenants', () => {
  it('never see each other’s files and batches', async () => {
    const { url } = await lone(echo, { auth: { keys: keysOf('a', 'b') }, ...inFolder() });
    const id = await batchOf(url, [lineOf('x')], {}, 'a');
    await until(async () => (await shown(url, id, 'a'))['status'] === 'completed');
    const { input_file_id: file } = await shown(url, id, 'a');
    const b = { headers: { authorization: 'Bearer key-b' } };
    for (const path of [`files/${String(file)}`, `files/${String(file)}/content`])
      expect(refusal(await ask(`${url}/v1/${path}`, b))).toEqual([404, 'unknown_file']);
    const gone = await ask(`${url}/v1/files/${String(file)}`, { ...b, method: 'DELETE' });
    expect(refusal(gone)).toEqual([404, 'unknown_file']);
    expect(refusal(await create(url, file, {}, 'b'))).toEqual([404, 'unknown_file']);
    expect(refusal(await ask(`${url}/v1/batches/${id}`, b))).toEqual([404, 'unknown_batch']);
    expect(refusal(await post(`${url}/v1/batches/${id}/cancel`, {}, b.headers))).toEqual([404, 'unknown_batch']);
    const ended = await post(`${url}/programs/${id}/end`, {}, b.headers);
    expect([...refusal(ended), ended.text]).toEqual([
      404,
      'unknown_program',
      expect.stringContaining(`POST /v1/batches/${id}/cancel`),
    ]);
    for (const path of ['files', 'batches']) expect((await ask(`${url}/v1/${path}`, b)).json()['data']).toEqual([]);
    expect(refusal(await ask(`${url}/v1/files`))).toEqual([401, 'unauthorized']);
  });
});

describe('settings', () => {
  it('leave the paths closed without a folder, and need an address in a cluster', async () => {
    const { url } = await lone();
    const refused = await upload(url, 'x');
    expect(refusal(refused)).toEqual([403, 'path_not_allowed']);
    expect(refused.text).toContain('batches.folder');
    const both = { batches: { folder: '/x' }, cluster: { url: 'redis://h:1' } };
    expect(() => configOf([{ url: 'http://e' }], both)).toThrow('batches.folder');
  });
});

it('a call of the flexible tier gives way like a line', async () => {
  const { steps, recorder } = recording();
  const { engine, chat } = await lone(echo, {}, { recorder });
  for (const tier of ['flex', 'priority', 'standard_only', null, undefined]) await chat({ service_tier: tier });
  const arrivals = steps.flatMap(({ event }) => (event.type === 'callArrived' ? [event.background] : []));
  expect(arrivals).toEqual([true, undefined, undefined, undefined, undefined]);
  for (const tier of ['flexx', 'Flex', 1, {}])
    expect(refusal(await chat({ service_tier: tier }))).toEqual([400, 'invalid_body']);
  expect(engine.seen).toHaveLength(5);
});
