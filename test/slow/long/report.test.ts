import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type * as Program from '../../../bench/report/program.js';
import { EXPERIMENTS } from '../../../lab/experiments/experiments.js';
import { run } from '../../support/command-line.js';
import { filesOf, folderOf } from '../../support/folder.js';
import { ROOT } from '../../support/tree.js';

/** As it is built, because threads run from files. */
const { main } = (await import(`${ROOT}dist/bench/report/program.js`)) as typeof Program;
const report = (...args: readonly string[]) => run(args, {}, (argv) => main(argv.slice(2)));

describe('npm run bench:report -- --smoke', () => {
  it('tells of every experiment, in Markdown with charts beside it', async () => {
    const out = join(folderOf({}), 'new', 'folder');
    const { code, errors } = await report('--smoke', '--out', out, '--traces', 'docs');
    expect({ code, errors }).toEqual({ code: 0, errors: [expect.stringMatching(/^maitred: wrote /)] });
    const { 'report.md': text = '', ...charts } = filesOf(out);
    for (const { title } of EXPERIMENTS) expect(text).toContain(`\n## ${title}\n`);
    expect([...text.matchAll(/\]\((.+\.svg)\)/g)].map(([, name]) => name).sort()).toEqual(Object.keys(charts));
    expect(text).toMatch(/recordings are not here: mini-swe-agent, weka, agentcgroup/);
    expect(text.trimEnd().split('\n').at(-1)).toBe('```');
    expect(text).toContain('\nnpm run bench:report -- --out FOLDER --smoke --seed 1 --traces docs\n');
    expect(text).not.toMatch(/NaN|undefined|Infinity/);
  });

  it('writes the same bytes however many threads make the runs', async () => {
    const [one, two] = [folderOf({}), folderOf({})];
    for (const [out, jobs] of [
      [one, '1'],
      [two, '2'],
    ] as const)
      await report(
        '--smoke',
        '--only',
        'declarations',
        '--seed',
        '3,4',
        '--jobs',
        jobs,
        '--out',
        out,
        '--traces',
        'docs',
      );
    const files = filesOf(one);
    expect(Object.keys(files)).toEqual(['report.md']);
    expect(files['report.md']).toContain('seeds 3, 4');
    expect(filesOf(two)).toEqual(files);
  });
});

describe('npm run bench:report', () => {
  it.each([
    ['of an experiment that there is not', ['--out', 'x', '--only', 'rate']],
    ['with recordings from a folder that is not there', ['--out', 'x', '--traces', 'nowhere']],
    ['of recordings alone, where there is none', ['--out', 'x', '--only', 'recorded', '--traces', 'docs']],
  ])('%s is wrong usage', async (_, args) => {
    expect(await report(...args)).toMatchObject({ code: 2, out: '' });
  });
});
