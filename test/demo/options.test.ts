import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { main } from '../../demo/program.js';
import { makeCommand, type DemoOptions } from '../../demo/options.js';
import { fileOf, folderOf } from '../support/folder.js';

let said = '';
beforeEach(() => {
  said = '';
  const take = (text: string | Uint8Array) => ((said += String(text)), true);
  vi.spyOn(process.stderr, 'write').mockImplementation(take);
  vi.spyOn(process.stdout, 'write').mockImplementation(take);
});
afterEach(() => vi.restoreAllMocks());

const run = (line: string, more: readonly string[] = []) =>
  main([...line.split(' ').filter(Boolean), ...more], () => {});

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
    expect(await run(line)).toBe(2);
    expect(said).not.toBe('');
  });

  it('traces that are named and not there, or hold nothing that can be used', async () => {
    const folder = folderOf({ 'bad.jsonl': '{"instance_id":', 'notes.txt': 'no trace' });
    expect(await run('--traces', [`${folder}/missing`])).toBe(2);
    said = '';
    expect(await run('--traces', [folder])).toBe(2);
    expect(said).toContain(`${folder}/bad.jsonl, line 1`);
  });

  it('a gateway configuration that is wrong or not there', async () => {
    const config = fileOf('maitred.yaml', 'admission:\n  gate: minus one\n');
    expect(await run('--synthetic --programs 1 --config', [config])).toBe(2);
    expect(said).toContain('admission.gate');
    expect(await run('--synthetic --programs 1 --config', [`${config}.missing`])).toBe(2);
  });

  it('a load balancer that is none', async () => {
    expect(await run('--synthetic --programs 1 --balancer seesaw')).toBe(2);
  });
});

describe('the demo', () => {
  it('tells its options', async () => {
    expect(await run('--help')).toBe(0);
    expect(said).toContain('--kv-share');
  });

  it('takes base URLs of engines as the gateway does', () => {
    const args = ['-e', 'http://127.0.0.1:9/v1/', '--engine', 'https://engine.example/'];
    expect(makeCommand().parse(args, { from: 'user' }).opts<DemoOptions>().engine).toEqual([
      'http://127.0.0.1:9',
      'https://engine.example',
    ]);
  });
});
