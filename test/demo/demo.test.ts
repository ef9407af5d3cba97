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
    const table = out.split('\n').filter((line) => /^(policy|pass-through|plas) {2,}/.test(line));
    expect(table.map((line) => line.split(/ {2,}/)[0])).toEqual(['policy', 'pass-through', 'plas']);
    expect(out).toMatch(/plas against pass-through: mean \d+\.\d\dx, p50 \d+\.\d\dx, p99 \d+\.\d\dx/);
    expect(err).toContain(`left out: ${traces}, line 4`);
    expect(err).toContain('9 of 9 calls answered, 3 of 3 programs done');
  });

  it('fails when no engine is there', async () => {
    const engine = await startEngine();
    await engine.close();
    expect((await demo('--engine', engine.url)).code).toBe(1);
  });
});
