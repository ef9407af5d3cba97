import { describe, expect, it } from 'vitest';
import { startEngine } from '../../sim/index.js';
import { demo } from '../support/demo.js';
import { fileOf } from '../support/folder.js';
import { jsonLines, trajectory } from '../support/trajectory.js';

const TINY = ['one', 'two', 'three'].map((id) => trajectory(id, ['look', 'edit', 'done']));

describe('npm run demo', () => {
  it('plays recorded programs through each policy and prints a row for each', async () => {
    const traces = fileOf('a.jsonl', `${jsonLines(TINY)}{"instance_id":"cut","messages":[{"role":"us`);
    const { code, out, err } = await demo('--traces', traces, '--speed', '100', '--engines', '1');
    expect(code, err).toBe(0);
    expect(out).toMatch(/^3 recorded mini-swe-agent programs, all at once, 9 calls /);
    const lines = out.split('\n');
    const [title, ...rows] = lines.slice(lines.findIndex((line) => line.startsWith('policy ')));
    expect(title).toMatch(/^policy +mean s/);
    expect(rows.slice(0, 3).map((line) => line.split(/ {2,}/)[0])).toEqual(['pass-through', 'fcfs-window', 'plas']);
    expect(out).toMatch(/^plas: (programs \d+\.\d\dx (sooner|later) than|no difference from) pass-through/m);
    expect(err).toContain(`left out: ${traces}, line 4`);
    expect(err).toContain('9 of 9 calls answered, 3 of 3 programs done');
  });

  it('fails when no engine is there', async () => {
    const engine = await startEngine();
    await engine.close();
    expect((await demo('--engine', engine.url)).code).toBe(1);
  });
});
