import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { choosePreset } from '../../cli/preset.js';
import { engine } from '../sim/client.js';
import { run } from '../support/command-line.js';
import { folderOf } from '../support/folder.js';
import { Maitred } from '../support/maitred.js';

const LINE = ['sim', 'calibrate'];

describe('maitred sim calibrate', () => {
  it('writes a preset that an engine serves, and prints how far it is off', async () => {
    const server = await engine({ preset: 'tiny-cpu', speed: 40, models: ['measured'] });
    const file = join(folderOf({}), 'preset.json');
    const args = `--target ${server.url} --preset tiny-cpu --concurrency 2 --prompt-tokens 256 --json --out ${file}`;
    const maitred = new Maitred([...LINE, ...args.split(' ')]);
    expect(await maitred.ended).toBe(0);
    const out = maitred.stdout;
    expect(out).toBe(readFileSync(file, 'utf8'));
    const { version, fit } = JSON.parse(out) as { version: number; fit: { testErrors: { median: number } } };
    expect(version).toBe(1);
    expect(fit).toMatchObject({ target: server.url, model: 'measured' });
    expect(fit.testErrors.median).toBeGreaterThan(0);
    const { stepOverheadMs } = choosePreset(file).preset;
    expect(stepOverheadMs).toBeLessThan(1);

    const served = new Maitred(['engine', '--port', '0', '--preset', file, '--speed', '100']);
    const { data } = (await (await fetch(`${await served.url()}/v1/models`)).json()) as { data: { id: string }[] };
    expect(data.map(({ id }) => id)).toEqual(['measured']);
    served.kill('SIGTERM');
    expect(await served.ended).toBe(0);
  });

  it.each([
    ['no target', []],
    ['a target that is no URL', ['--target', 'localhost:8000']],
    ['a target on no private network', ['--target', 'http://8.8.8.8']],
    ['credentials in its URL', ['--target', 'http://me:very-secret@127.0.0.1:9']],
    ['a file that cannot be written', ['--target', 'http://127.0.0.1:9', '--out', 'no-such-folder/preset.json']],
    ['a preset that is none', ['--target', 'http://127.0.0.1', '--preset', 'package.json']],
    ['a server that is not there', ['--target', 'http://127.0.0.1:9']],
    ['a name that nobody has', ['--target', 'http://no-such-host.invalid']],
  ])('with %s ends with what is wrong on one line', async (_, args) => {
    const { code, errors } = await run([...LINE, ...args]);
    expect({ code, errors }).toEqual({ code: 2, errors: [expect.not.stringContaining('very-secret')] });
  });

  it('stopped by a signal is no success', async () => {
    const server = await engine({ preset: 'tiny-cpu', speed: 1 });
    const maitred = new Maitred([...LINE, '--target', server.url]);
    await expect.poll(() => server.stats().requests).toBeGreaterThan(0);
    maitred.kill('SIGINT');
    expect(await maitred.ended).toBe(130);
  });
});
