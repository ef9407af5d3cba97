import { spawnSync } from 'node:child_process';
import { stringify } from 'yaml';
import { expect, it } from 'vitest';
import { fileOf } from '../support/folder.js';
import { ROOT } from '../support/tree.js';

const FILE = 'text/text-table.ts';
const KILLED = {
  name: 'cells are not aligned',
  from: 'cell.padStart(widths[column] ?? 0)',
  to: 'cell',
};
const COMMENT = { name: 'another comment', from: 'Each row as one line', to: 'Each row as a line' };

/** `npm run mutate` with a list of its own. */
function mutate(...mutants: readonly object[]) {
  const list = fileOf('mutants.yaml', stringify({ [FILE]: mutants }));
  const { status, stdout } = spawnSync(process.execPath, ['test/mutation/main.mjs', list], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  return { status, lines: stdout.trimEnd().split('\n') };
}

it('can make every mutant of the list', () => {
  const { status, stdout } = spawnSync(process.execPath, ['test/mutation/main.mjs', '--list'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  expect(status, stdout).toBe(0);
});

it('finds the mutants that no test kills, and fails if they are too many', () => {
  const { status, lines } = mutate(KILLED, COMMENT, { ...COMMENT, name: 'a third', equivalent: 'it is a comment' });
  expect(status).toBe(1);
  expect(lines.slice(-2)).toEqual([`survived: ${FILE}: another comment`, '1 of 2 killed, 50.0 %; 1 equivalent']);
  expect(lines).toContainEqual(expect.stringMatching(/by test\/text\/text-table\.test\.ts: /));
});
