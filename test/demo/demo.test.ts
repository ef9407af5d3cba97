import { describe, expect, it } from 'vitest';
import { startEngine } from '../../sim/index.js';
import { demo } from '../support/demo.js';
import { fileOf } from '../support/folder.js';
import { jsonLines, trajectory } from '../support/trajectory.js';

const TINY = ['one', 'two', 'three'].map((id) => trajectory(id, ['look', 'edit', 'done']));

describe('npm run demo', () => {
  it('simulates recorded programs under each policy, and then plays them live', async () => {
    const traces = fileOf('a.jsonl', `${jsonLines(TINY)}{"instance_id":"cut","messages":[{"role":"us`);
    const { code, out, err } = await demo(
      '--traces',
      traces,
      '--speed',
      '100',
      '--engines',
      '1',
      '--policies',
      'pass-through,plas',
    );
    expect(code, err).toBe(0);
    expect(out).toMatch(/^plas: (programs \d+\.\d\dx (sooner|later) than|no difference from) /);
    expect(out).toContain(
      '\nSimulated, in virtual time, with the gateway’s scheduler:\n3 recorded mini-swe-agent programs',
    );
    const tables = out.split(/^policy /m).slice(1);
    expect(tables.map((table) => table.trim().split(/ {2,}/)[0])).toEqual(['mean s', 'live s']);
    for (const table of tables)
      expect([...table.matchAll(/^(pass-through|plas) /gm)].map(([, name]) => name)).toHaveLength(2);
    expect(out.split('\n').filter((line) => line.length > 80)).toEqual([]);
    expect(err).toContain(`left out: ${traces}, line 4`);
    expect(err).toContain('9 of 9 calls answered, 3 of 3 programs done');
  }, 180_000);

  it('fails when no engine is there', async () => {
    const engine = await startEngine();
    await engine.close();
    expect((await demo('--engine', engine.url)).code).toBe(1);
  });
});
