import { describe, expect, it } from 'vitest';
import { main } from '../../demo/program.js';
import { makeCommand, type DemoOptions } from '../../demo/options.js';
import { run } from '../support/command-line.js';
import { fileOf, folderOf } from '../support/folder.js';

const demo = (line: string, more: readonly string[] = []) =>
  run([...line.split(' ').filter(Boolean), ...more], {}, ([, , ...args]) => main(args, () => {}));

describe('the demo refuses, before it starts anything,', () => {
  it.each([
    '--no-such-option',
    'word',
    '--policies nobody',
    '--policies pass-through,,plas',
    '--programs 0',
    '--programs 1.5',
    '--programs many',
    '--programs',
    '--seeds 1,x',
    '--seeds -1',
    '--speed 0',
    '--speed NaN',
    '--speed Infinity',
    '--kv-share 0',
    '--gap-scale -1',
    '--time-limit 0',
    '--preset abacus',
    '--engine engine.example',
    '--engine ftp://engine.example',
    '--engine http://127.0.0.1:9 --speed 2',
    '--engine http://127.0.0.1:9 --synthetic',
    '--engine http://127.0.0.1:9 --traces there',
    '--synthetic --traces there',
  ])('%s', async (line) => {
    expect(await demo(line)).toMatchObject({ code: 2, err: expect.stringMatching(/./) as string });
  });

  it('traces that are named and not there, or hold nothing that can be used', async () => {
    const folder = folderOf({ 'bad.jsonl': '{"instance_id":', 'notes.txt': 'no trace' });
    expect((await demo('--traces', [`${folder}/missing`])).code).toBe(2);
    const { code, err } = await demo('--traces', [folder]);
    expect([code, err]).toEqual([2, expect.stringContaining(`${folder}/bad.jsonl, line 1`)]);
  });

  it('a gateway configuration that is wrong or not there', async () => {
    const config = fileOf('maitred.yaml', 'admission:\n  gate: minus one\n');
    const { code, err } = await demo('--synthetic --programs 1 --config', [config]);
    expect([code, err]).toEqual([2, expect.stringContaining('admission.gate')]);
    expect((await demo('--synthetic --programs 1 --config', [`${config}.missing`])).code).toBe(2);
  });

  it('a load balancer that is none', async () => {
    expect((await demo('--synthetic --programs 1 --balancer seesaw')).code).toBe(2);
  });
});

describe('the demo', () => {
  it('tells its options', async () => {
    expect(await demo('--help')).toMatchObject({ code: 0, out: expect.stringContaining('--kv-share') as string });
  });

  it('takes base URLs of engines as the gateway does', () => {
    const args = ['-e', 'http://127.0.0.1:9/v1/', '--engine', 'https://engine.example/'];
    expect(makeCommand().parse(args, { from: 'user' }).opts<DemoOptions>().engine).toEqual([
      'http://127.0.0.1:9',
      'https://engine.example',
    ]);
  });
});
