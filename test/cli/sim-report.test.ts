import { readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXPERIMENTS } from '../../lab/experiments/experiments.js';
import { fileOf, folderOf } from '../support/folder.js';
import { number } from '../../lab/report/figures.js';
import { json, refused, sim } from '../support/sim-command.js';
import { describeRecorded } from '../support/traces.js';

const NO_TRACES = ['--traces', 'nowhere'];

function filesOf(folder: string): Record<string, string> {
  const names = readdirSync(folder).sort();
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
}

describe('maitred sim report --smoke', () => {
  it('tells of every experiment, in a page that is complete in itself and in Markdown with charts beside it', async () => {
    const out = join(folderOf({}), 'new', 'folder');
    const { code, errors } = await sim('report', '--smoke', '--out', out, ...NO_TRACES);
    expect({ code, errors }).toEqual({ code: 0, errors: [] });
    const { 'report.html': page = '', 'report.md': text = '', ...charts } = filesOf(out);
    for (const { title } of EXPERIMENTS) {
      expect(text).toContain(`\n## ${title}\n`);
      expect(page).toContain(`<h2>${title}</h2>`);
    }
    expect([...text.matchAll(/\]\((.+\.svg)\)/g)].map(([, name]) => name).sort()).toEqual(Object.keys(charts));
    expect(page.match(/<svg /g)).toHaveLength(Object.keys(charts).length);
    // Nothing is fetched: no address but the names of SVG's and XML's own vocabularies.
    expect(page.replaceAll('http://www.w3.org/', '')).not.toMatch(/https?:|<script|@import|url\(/);
    expect(text).toMatch(/recordings are not here: mini-swe-agent, weka, agentcgroup/);
    expect(text.trimEnd().split('\n').at(-1)).toBe('```');
    expect(text).toContain('\nmaitred sim report --out FOLDER --smoke --seeds 1 --traces nowhere\n');
    expect(text).not.toMatch(/NaN|undefined|Infinity/);
  }, 60_000);

  it('writes the same bytes however many threads make the runs', async () => {
    const [one, two] = [folderOf({}), folderOf({})];
    for (const [out, jobs] of [[one, '1'], [two, '2']] as const) // prettier-ignore
      await sim('report', '--smoke', '--only', 'mismeasured', '--seeds', '3,4', '--jobs', jobs, '--out', out, ...NO_TRACES); // prettier-ignore
    const files = filesOf(one);
    expect(Object.keys(files)).toEqual(['report.html', 'report.md']);
    expect(files['report.md']).toContain('seeds 3, 4');
    expect(filesOf(two)).toEqual(files);
  }, 60_000);
});

/** How the row of a policy's default setting begins. */
function labelOf(policy: string): string {
  if (policy === 'fcfs' || policy === 'mru-pause') return `| ${policy}`;
  return policy === 'srpt-promoted' ? '| srpt + gate, promoted' : `| ${policy} + gate`;
}

describeRecorded('agentcgroup/timings_first40.jsonl.gz', (file) => {
  it('is played by the commands of the report as by the report', async () => {
    const [out, traces] = [folderOf({}), folderOf({})];
    // Without the other recordings, which would take most of the time.
    symlinkSync(dirname(file), join(traces, 'agentcgroup'));
    await sim('report', '--smoke', '--only', 'recorded', '--out', out, '--traces', traces);
    const lines = readFileSync(join(out, 'report.md'), 'utf8').split('\n');
    const isKind = (line: string) => line.startsWith('maitred sim --trace ') && line.includes('agentcgroup') && !line.includes('--conditions');
    const command = lines.find(isKind)!;
    const { document } = await json(...command.split(' ').slice(2));
    expect(document.runs.map(({ policy }) => policy)).toContain('fcfs');
    const title = lines.findIndex((line) => line.startsWith('**agentcgroup, 2 engines'));
    for (const { policy, program_seconds } of document.runs) {
      const row = lines.slice(title).find((line) => line.startsWith(labelOf(policy)));
      expect(row!.split('|')[2]!.trim(), policy).toBe(number(program_seconds.mean));
    }
  }, 60_000);
});

describe('maitred sim report', () => {
  it.each([
    ['without a folder', []],
    ['of an experiment that there is not', ['--out', 'x', '--only', 'rate']],
    ['of one named twice', ['--out', 'x', '--only', 'rates,rates']],
    ['with seeds that are none', ['--out', 'x', '--seeds', '1,-2']],
    ['of words that mean nothing', ['--out', 'x', 'rates']],
  ])('%s is wrong usage', async (_, args) => {
    expect(await refused('report', ...args)).toMatchObject({ code: 2, out: '' });
  });

  it('says before it runs anything that it cannot write', async () => {
    const file = fileOf('file', '');
    for (const out of [file, join(file, 'x'), '/proc/x/y']) {
      const { code, errors } = await refused('report', '--out', out, ...NO_TRACES);
      expect({ code, lines: errors.length }, out).toEqual({ code: 2, lines: 1 });
    }
  });
});
