import { cpSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { folderOf } from '../../support/folder.js';
import { serveTwo } from '../../support/maitred.js';
import { ROOT } from '../../support/tree.js';
import { installOf, makeFolder, runClient } from './stage.js';

it('the SDK of OpenAI uploads a batch, waits for it, and reads, lists and deletes files', async ({ skip }) => {
  const folder = makeFolder();
  const script = join(folder, 'batches.mjs');
  symlinkSync(join(installOf('node', skip), 'node_modules'), join(folder, 'node_modules'));
  cpSync(join(ROOT, 'test/slow/clients/batches.mjs'), script);
  const env = { MAITRED_BATCHES_FOLDER: folderOf({}) };
  const { url } = await serveTwo({ speed: 20, models: ['llama-3.1-8b'] }, '0', env);
  const printed = await runClient({ command: process.execPath, args: [script], env: { GATEWAY_URL: url } });
  expect(JSON.parse(printed)).toEqual({
    ids: ['a', 'b', 'c'],
    counts: { total: 3, completed: 3, failed: 0 },
    listed: ['batch_output', 'batch'],
    deleted: true,
    lost: 'unknown_file',
    cancelled: 'batch_ended',
  });
});
