import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { ROOT } from '../../support/tree.js';

it('the list of mutants has no text that is not once in its file', () => {
  const { status, stdout } = spawnSync(process.execPath, ['test/mutation/main.mjs', '--list'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  expect(stdout.split('\n').filter((line) => line.includes(': its text is there '))).toEqual([]);
  expect(status).toBe(0);
});
