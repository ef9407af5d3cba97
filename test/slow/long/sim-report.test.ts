import { readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXPERIMENTS } from '../../../lab/experiments/experiments.js';
import { number } from '../../../text/index.js';
import { filesOf, folderOf } from '../../support/folder.js';
import { json, sim } from '../../support/sim-command.js';
import { describeRecorded } from '../../support/traces.js';

describe('maitred sim report --smoke', () => {
  it('tells of every experiment, in Markdown with charts beside it', async () => {
    const out = join(folderOf({}), 'new', 'folder');
    const { code, errors } = await sim('report', '--smoke', '--out', out, '--traces', 'docs');
    expect({ code, errors }).toEqual({ code: 0, errors: [expect.stringMatching(/^maitred: wrote /)] });
    const { 'report.md': text = '', ...charts } = filesOf(out);
    for (const { title } of EXPERIMENTS) expect(text).toContain(`\n## ${title}\n`);
    expect([...text.matchAll(/\]\((.+\.svg)\)/g)].map(([, name]) => name).sort()).toEqual(Object.keys(charts));
    expect(text).toMatch(/recordings are not here: mini-swe-agent, weka, agentcgroup/);
    expect(text.trimEnd().split('\n').at(-1)).toBe('```');
    expect(text).toContain('\nmaitred sim report --out FOLDER --smoke --seed 1 --traces docs\n');
    expect(text).not.toMatch(/NaN|undefined|Infinity/);
  });
});

/** Beginning of the row of a policy's default setting. */
const labelOf = (policy: string): string => (policy === 'pass-through' ? `| ${policy}` : `| ${policy} + gate`);

describeRecorded('agentcgroup/timings_first40.jsonl.gz', (file) => {
  it('is played by the commands of the report as by the report', async () => {
    const [out, traces] = [folderOf({}), folderOf({})];
    // Without the other recordings, which would take most of the time.
    symlinkSync(dirname(file), join(traces, 'agentcgroup'));
    await sim('report', '--smoke', '--only', 'recorded', '--out', out, '--traces', traces);
    const lines = readFileSync(join(out, 'report.md'), 'utf8').split('\n');
    const isKind = (line: string) =>
      line.startsWith('maitred sim --trace ') && line.includes('agentcgroup') && !line.includes('--conditions');
    const command = lines.find(isKind)!;
    const { document } = await json(...command.split(' ').slice(2));
    expect(document.runs.map(({ policy }) => policy)).toContain('pass-through');
    const title = lines.findIndex((line) => line.startsWith('**agentcgroup, 2 engines'));
    for (const { policy, program_seconds } of document.runs) {
      const row = lines.slice(title).find((line) => line.startsWith(labelOf(policy)));
      expect(row!.split('|')[2]!.trim(), policy).toBe(number(program_seconds.mean));
    }
  });
});
