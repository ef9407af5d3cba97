import { describe, expect, it } from 'vitest';
import { startEngine } from '../../sim/index.js';
import { demo } from '../support/demo.js';
import { fileOf } from '../support/folder.js';
import { jsonLines, trajectory } from '../support/trajectory.js';

const TINY = ['one', 'two', 'three'].map((id) => trajectory(id, ['look', 'edit', 'done']));

describe('npm run demo', () => {
  it.each([
    ['simulates recorded programs under each policy', [], 'Simulated, in virtual time'],
    ['plays them live', ['--full', '--speed', '100'], 'Live, 100 times as fast as real'],
  ])(
    '%s',
    async (_, how, said) => {
      const traces = fileOf('a.jsonl', `${jsonLines(TINY)}{"instance_id":"cut","messages":[{"role":"us`);
      const { code, out, err } = await demo(
        '--traces',
        traces,
        '--engines',
        '1',
        '--policies',
        'pass-through,plas',
        ...how,
      );
      expect(code, err).toBe(0);
      expect(out).toMatch(/^plas: programs (\d+\.\d\dx (faster|slower) than|at most 2 % different from) pass-through/);
      // Virtual time costs little, so the efficiencies that others measured are played too.
      expect(out.match(/^plas on llama-3.1-8b-a100:(low|high): \d/gm) ?? []).toHaveLength(how.length > 0 ? 0 : 2);
      expect(out).toContain(`\n${said}`);
      expect(out).toContain(':\n3 recorded mini-swe-agent programs');
      const [, table = ''] = out.split(/^policy /m);
      expect([...table.matchAll(/^(pass-through|plas) /gm)].map(([, name]) => name)).toEqual(['pass-through', 'plas']);
      expect(out.split('\n').filter((line) => line.length > 80)).toEqual([]);
      expect(err).toContain(`left out: ${traces}, line 4`);
      if (how.length > 0) expect(err).toContain('plas: 9 of 9 calls answered');
    },
    180_000,
  );

  it('fails when no engine is there', async () => {
    const engine = await startEngine();
    await engine.close();
    expect((await demo('--engine', engine.url)).code).toBe(1);
  });
});
