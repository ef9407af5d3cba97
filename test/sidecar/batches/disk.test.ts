import { rmSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { expect, it, vi } from 'vitest';
import type { GatewayState } from '../../../sidecar/admin/answers.js';
import { run } from '../../support/command-line.js';
import { fileOf } from '../../support/folder.js';
import { ask, chat, cleanUp, completion, fakeEngine, gate, heldEngine, post, until, world } from '../gateway/world.js';
import { batchOf, create, inFolder, lineOf, shown, upload } from './service.js';

/** Lets no file be written until the test has ended. */
async function fillDisk() {
  const handle = await open(fileOf('any', ''));
  await handle.close();
  const full = Object.assign(new Error('full'), { code: 'ENOSPC' });
  const write = vi.spyOn(Object.getPrototypeOf(handle) as FileHandle, 'write').mockRejectedValue(full);
  cleanUp(() => write.mockRestore());
  return write;
}

it('a batch on a full disk keeps its answers in memory, holds up no other call, and says so everywhere', async () => {
  const { opened, open: answer } = gate();
  const engine = await fakeEngine(async (response, seen, request) => {
    if (seen.body.includes('batched')) await opened;
    await completion()(response, seen, request);
  });
  const { batches } = inFolder();
  const { url, adminUrl, read } = await world([engine], { batches });
  const id = await batchOf(url, [lineOf('a', 'batched')]);
  await until(() => engine.seen.length === 1);
  const write = await fillDisk();
  answer();
  await until(() => write.mock.calls.length > 0);
  expect((await chat(url)).status).toBe(200);
  expect(await shown(url, id)).toMatchObject({ status: 'in_progress', request_counts: { completed: 0 } });
  const told = `cannot go on, as the folder ${batches.folder} is on a full disk; once that is mended, the answers in memory are written, and all goes on by itself`;
  const { text } = await read<{ text: string }>(`/programs/${id}/explain`);
  expect(text).toMatch(`Batch ${id} of tenant default ${told}: 0 of 1 line answered, 0 failed.\n`);
  expect(text).not.toContain('tell how long');
  const { batches: rows, status } = await read<GatewayState>('/gateway');
  expect(rows).toMatchObject([{ stuck: true, rest_seconds: null, text: `It ${told}.` }]);
  expect(status).toMatchObject({ level: 'bad', text: expect.stringContaining(told) as string });
  expect((await ask(`${adminUrl}/metrics`)).text).toMatch(/^maitred_batches_unwritable 1$/m);
  expect(await run(['doctor', '--url', adminUrl])).toMatchObject({
    code: 1,
    out: expect.stringMatching(new RegExp(`broken +gateway: ${id}: 0 of 1 line.\\s+It\\s+cannot`)) as string,
  });
});

it('a cancelled batch on a full disk says both', async () => {
  const { engine, open: answer } = await heldEngine();
  const { url, read } = await world([engine], inFolder());
  const id = await batchOf(url, [lineOf('a')]);
  await until(() => engine.seen.length === 1);
  await post(`${url}/v1/batches/${id}/cancel`, {});
  const write = await fillDisk();
  answer();
  await until(() => write.mock.calls.length > 0);
  const { text } = await read<{ text: string }>(`/programs/${id}/explain`);
  expect(text).toContain(`Batch ${id} of tenant default is being cancelled, but cannot end, as the folder `);
});

it('a folder that has lost its files is told to whoever asks for them, or sends more', async () => {
  const { batches } = inFolder();
  const { url } = await world([await fakeEngine()], { batches });
  const { id } = (await upload(url, lineOf('a'))).json();
  rmSync(`${batches.folder}/t-default`, { recursive: true });
  const content = await ask(`${url}/v1/files/${String(id)}/content`);
  for (const { status, text } of [await upload(url, lineOf('b')), await create(url, id), content])
    expect([status, text]).toEqual([500, expect.stringContaining('has lost files. Its operator must restore it')]);
});
