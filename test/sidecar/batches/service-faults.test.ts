import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { ofDisk } from '../../../sidecar/batches/line-file.js';
import { Results } from '../../../sidecar/batches/results.js';
import { until } from '../gateway/world.js';
import { CHAT } from './service.js';
import { OK, A, B, stage, lines } from './service-stage.js';

const DAY = 86_400_000;

describe('batches', () => {
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
    expect(shelf.batches.get(id)).toMatchObject({
      request_counts: { total: 2, completed: 0, failed: 0 },
      output_file_id: null,
    });
    expect(readdirSync(shelf.folder).filter((name) => /new|left/.test(name))).toEqual([]);
    const three = await stage(one.folder);
    expect(three.batches.shelf(A).batches.get(id)?.status).toBe('cancelled');
  });

  it('on a full disk are refused with a clear error, and nothing is left of them', async () => {
    const { batches } = await stage();
    const shelf = batches.shelf(A);
    await shelf.addFile({
      id: 'file-x',
      object: 'file',
      bytes: 1,
      created_at: 0,
      expires_at: 1e12,
      filename: 'x',
      purpose: 'batch',
      status: 'processed',
    });
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
    await shelf.addFile({
      id: 'file-x',
      object: 'file',
      bytes: 1,
      created_at: 0,
      expires_at: 1e12,
      filename: 'x',
      purpose: 'batch',
      status: 'processed',
    });
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
