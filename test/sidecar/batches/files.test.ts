import { existsSync, readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ask, dial, fakeEngine, heldEngine, post, refusal, until, world } from '../gateway/world.js';
import { filesOf } from '../../support/folder.js';
import { batchOf, create, FORM, formOf, inFolder, lineOf, reached, upload } from './service.js';

const started = async (more: object = {}) => {
  const { batches } = inFolder();
  const { url, logs } = await world([await fakeEngine()], { batches: { ...batches, ...more } });
  return { url, logs, folder: batches.folder };
};

describe('a file', () => {
  it('comes back byte for byte, is listed, and is gone once deleted', async () => {
    const { url, folder } = await started();
    const content = Buffer.from([0, 13, 10, 45, 45, 120, 255, 10, 13, 10, 45, 45]);
    const { id } = (await upload(url, content)).json() as { id: string };
    expect((await ask(`${url}/v1/files/${id}/content`)).bytes).toEqual(content);
    expect((await ask(`${url}/v1/files`)).json()).toMatchObject({ object: 'list', data: [{ id }], has_more: false });
    expect((await ask(`${url}/v1/files/${id}`, { method: 'DELETE' })).json()).toEqual({
      id,
      object: 'file',
      deleted: true,
    });
    expect(refusal(await ask(`${url}/v1/files/${id}`))).toEqual([404, 'unknown_file']);
    expect(filesOf(`${folder}/t-default`)).toEqual({});
  });

  it('that an unfinished batch reads stays', async () => {
    const { engine, open } = await heldEngine();
    const { url } = await world([engine], inFolder());
    const id = await batchOf(url, [lineOf('a')]);
    const { input_file_id: file } = (await ask(`${url}/v1/batches/${id}`)).json();
    expect(refusal(await ask(`${url}/v1/files/${String(file)}`, { method: 'DELETE' }))).toEqual([409, 'file_in_use']);
    open();
    await reached(url, id, 'completed');
    expect((await ask(`${url}/v1/files/${String(file)}`, { method: 'DELETE' })).status).toBe(200);
  });

  it.each([
    ['another purpose', formOf('x', 'vision'), FORM, 400, 'invalid_body'],
    ['a mistyped purpose', formOf('x', 'batches'), FORM, 400, 'invalid_body'],
    ['no file', Buffer.from(formOf('x').toString().replace('name="file"', 'name="other"')), FORM, 400, 'invalid_body'],
    ['nothing in it', formOf(''), FORM, 400, 'invalid_body'],
    ['no form', Buffer.from('{}'), 'application/json', 415, 'unsupported_media_type'],
    ['a form that is cut off', formOf('x').subarray(0, -8), FORM, 400, 'invalid_body'],
    ['a part without a name', Buffer.from('--xyz\r\nx: y\r\n\r\n\r\n--xyz--'), FORM, 400, 'invalid_body'],
    ['two files', Buffer.concat([formOf('x').subarray(0, -9), formOf('y')]), FORM, 400, 'invalid_body'],
    [
      'too many fields',
      Buffer.from('--xyz\r\ncontent-disposition: form-data; name="a"\r\n\r\n\r\n'.repeat(30) + '--xyz--'),
      FORM,
      400,
      'invalid_body',
    ],
    ['too many bytes', formOf('x'.repeat(3000)), FORM, 413, 'body_too_large'],
    ['far too many bytes', formOf('x'.repeat(200_000)), FORM, 413, 'body_too_large'],
  ])('with %s is refused, and leaves nothing', async (_, body, type, ...expected) => {
    const { url, folder } = await started({ fileBytes: 2048 });
    const got = await ask(`${url}/v1/files`, { headers: { 'content-type': type }, body });
    expect([...refusal(got), got.text.includes('did you mean')]).toEqual([...expected, false]);
    expect(Object.keys(filesOf(`${folder}/t-default`))).toEqual([]);
  });

  it('is refused above the number and the bytes of a tenant', async () => {
    const { url } = await started({ filesMax: 2, bytesMax: 1024 });
    expect((await upload(url, 'x'.repeat(1000))).status).toBe(200);
    expect(refusal(await upload(url, 'x'.repeat(100)))).toEqual([409, 'files_full']);
    expect((await upload(url, 'x')).status).toBe(200);
    expect(refusal(await upload(url, 'x'))).toEqual([409, 'files_full']);
  });

  it('whose client leaves is gone with it', async () => {
    const { url, folder, logs } = await started();
    const socket = dial(url);
    socket.write(`POST /v1/files HTTP/1.1\r\nhost: x\r\ncontent-type: ${FORM}\r\ncontent-length: 9999\r\n\r\n`);
    socket.write(formOf('x').subarray(0, -10));
    await until(() => existsSync(`${folder}/t-default`) && readdirSync(`${folder}/t-default`).length === 1);
    socket.destroy();
    await until(() => logs.some(({ code }) => code === 'client_gone'));
    expect(filesOf(`${folder}/t-default`)).toEqual({});
  });
});

describe('lists', () => {
  it('come in pages, the newest first unless asked for the oldest', async () => {
    const { url } = await started();
    const ids: unknown[] = [];
    for (let i = 0; i < 5; i++) ids.push((await upload(url, `${i}`)).json()['id']);
    const list = async (query: string) => {
      const { data, has_more, last_id } = (await ask(`${url}/v1/files?${query}`)).json() as {
        data: { id: string }[];
        has_more: boolean;
        last_id: string;
      };
      return { ids: data.map(({ id }) => ids.indexOf(id)), has_more, last: last_id };
    };
    const first = await list('limit=2&order=asc');
    expect(first).toMatchObject({ ids: [0, 1], has_more: true });
    expect(await list(`limit=3&order=asc&after=${first.last}`)).toMatchObject({ ids: [2, 3, 4], has_more: false });
    expect((await list('')).ids).toEqual([4, 3, 2, 1, 0]);
    expect((await list('purpose=batch_output')).ids).toEqual([]);
    for (const query of ['limit=0', 'limit=x', 'order=up', 'after=file-x'])
      expect(refusal(await ask(`${url}/v1/files?${query}`))).toEqual([400, 'bad_request']);
  });
});

describe('a request for a batch', () => {
  it.each([
    [{ input_file_id: 7 }, 400, 'invalid_body'],
    [{ input_file_id: 'file-x' }, 404, 'unknown_file'],
    [{ endpoint: '/v1/files' }, 400, 'invalid_body'],
    [{ completion_window: '31d' }, 400, 'invalid_body'],
    [{ completion_window: '0h' }, 400, 'invalid_body'],
    [{ output_expires_after: { anchor: 'created_at', seconds: 3599 } }, 400, 'invalid_body'],
    [{ metadata: { a: 1 } }, 400, 'invalid_body'],
    [{ metadata: Object.fromEntries(Array.from({ length: 17 }, (_, i) => [i, ''])) }, 400, 'invalid_body'],
  ])('with %j is refused', async (more, ...expected) => {
    const { url } = await started();
    const { id } = (await upload(url, 'x')).json();
    expect(refusal(await create(url, id, more))).toEqual(expected);
    expect((await ask(`${url}/v1/batches`)).json()['data']).toEqual([]);
  });

  it('is refused above the tenant’s unfinished batches; an unknown one is not found', async () => {
    const { engine } = await heldEngine();
    const { batches } = inFolder();
    const { url } = await world([engine], { batches: { ...batches, openMax: 1 } });
    const { id } = (await upload(url, lineOf('a'))).json();
    expect((await create(url, id)).status).toBe(200);
    expect(refusal(await create(url, id))).toEqual([409, 'batches_full']);
    expect(refusal(await ask(`${url}/v1/batches/batch_x`))).toEqual([404, 'unknown_batch']);
    expect(refusal(await post(`${url}/v1/batches/batch_x/cancel`, {}))).toEqual([404, 'unknown_batch']);
  });
});
