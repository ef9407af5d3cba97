import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fileOf, filesOf, folderOf } from '../support/folder.js';
import { sim } from '../support/sim-command.js';

/** A folder without recordings. */
const NO_TRACES = ['--traces', 'docs'];

describe('maitred sim report --smoke', () => {
  it('writes the same bytes however many threads make the runs', async () => {
    const [one, two] = [folderOf({}), folderOf({})];
    for (const [out, jobs] of [[one, '1'], [two, '2']] as const) // prettier-ignore
      await sim('report', '--smoke', '--only', 'mismeasured', '--seed', '3,4', '--jobs', jobs, '--out', out, ...NO_TRACES); // prettier-ignore
    const files = filesOf(one);
    expect(Object.keys(files)).toEqual(['report.md']);
    expect(files['report.md']).toContain('seeds 3, 4');
    expect(filesOf(two)).toEqual(files);
  }, 60_000);
});

describe('maitred sim report', () => {
  it.each([
    ['without a folder', []],
    ['of an experiment that there is not', ['--out', 'x', '--only', 'rate']],
    ['of one named twice', ['--out', 'x', '--only', 'rates,rates']],
    ['with seeds that are none', ['--out', 'x', '--seed', '1,-2']],
    ['with recordings from a folder that is not there', ['--out', 'x', '--traces', 'nowhere']],
    ['of recordings alone, where there is none', ['--out', 'x', '--only', 'recorded', '--traces', 'docs']],
    ['of words that mean nothing', ['--out', 'x', 'rates']],
  ])('%s is wrong usage', async (_, args) => {
    expect(await sim('report', ...args)).toMatchObject({ code: 2, out: '' });
  });

  it('does not take options of the command above it', async () => {
    const { code, errors } = await sim('--workload', 'chat', 'report', '--out', 'x');
    expect([code, errors]).toEqual([2, [expect.stringContaining('--workload')]]);
  });

  it('says before it runs anything that it cannot write', async () => {
    const file = fileOf('file', '');
    for (const out of [file, join(file, 'x'), '/proc/x/y']) {
      const { code, errors } = await sim('report', '--out', out, ...NO_TRACES);
      expect({ code, lines: errors.length }, out).toEqual({ code: 2, lines: 1 });
    }
  });
});
