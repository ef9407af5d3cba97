import { spawnSync } from 'node:child_process';
import { existsSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync, gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { itHelps, itRefuses, itSuggests, run } from '../support/command-line.js';
import { fileOf, folderOf } from '../support/folder.js';
import { BINARY } from '../support/maitred.js';
import { readTrace } from '../support/traces.js';

const trace = (...args: readonly string[]) => run(['trace', ...args]);

const request = (timestamp: number, input_length = 600) =>
  JSON.stringify({ timestamp, input_length, output_length: 5, hash_ids: [1, timestamp + 2] });
const GOOD = `${request(0)}\n${request(7)}\n`;
const BAD = `${request(0)}\n${request(7, -1)}\n{"cut\n`;

describe('maitred trace convert', () => {
  it('writes what reads back as the same programs, to stdout', async () => {
    const { code, out, errors } = await trace('convert', fileOf('a.jsonl', GOOD));
    expect({ code, errors }).toEqual({ code: 0, errors: [] });
    const { format, programs } = await readTrace(fileOf('b.jsonl', out));
    expect(format).toBe('maitred');
    expect(programs).toMatchObject([
      { id: 'request-1', arrivalMs: 0, calls: [{ promptTokens: 600, outputTokens: 5 }] },
      { id: 'request-2', arrivalMs: 7, calls: [{ prefix: { blocks: [1, 9], blockTokens: 512 } }] },
    ]);
  });

  it('writes to a file, packed when its name says so', async () => {
    const folder = folderOf({ 'in.gz': gzipSync(GOOD) });
    const { out } = await trace('convert', join(folder, 'in.gz'), '--format', 'mooncake');
    for (const name of ['out.jsonl', 'out.jsonl.gz'])
      expect(await trace('convert', join(folder, 'in.gz'), '--out', join(folder, name))).toMatchObject({
        code: 0,
        out: '',
      });
    expect(readFileSync(join(folder, 'out.jsonl'), 'utf8')).toBe(out);
    expect(gunzipSync(readFileSync(join(folder, 'out.jsonl.gz'))).toString()).toBe(out);
  });

  it('leaves out what is malformed and tells where it is; with --strict that is a failure', async () => {
    const file = fileOf('a.jsonl', BAD);
    const usual = await trace('convert', file);
    expect([usual.code, usual.out.split('\n').length]).toEqual([0, 2]);
    const told = usual.errors.map((line) => /line \d+, \w+|line \d+|written: 1/.exec(line)?.[0]);
    expect(told).toEqual(['line 2, input_length', 'line 3', 'written: 1']);
    const strict = await trace('convert', file, '--strict');
    expect(strict.code).toBe(1);
    expect(strict.out).toBe(usual.out);
    expect((await trace('convert', fileOf('a.jsonl', GOOD), '--strict')).code).toBe(0);
  });

  it('tells of a thousand malformed records in a few lines', async () => {
    const { code, errors } = await trace('convert', fileOf('a.jsonl', GOOD + `${request(1, -1)}\n`.repeat(1000)));
    expect(code).toBe(0);
    expect(errors.length).toBeLessThan(30);
    expect(errors.at(-1)).toContain('1000');
  });

  it('fails when nothing can be taken, or not to the end', async () => {
    const packed = gzipSync(Array.from({ length: 5000 }, (_, row) => request(row)).join('\n'));
    const cut = await trace('convert', fileOf('a.jsonl.gz', packed.subarray(0, packed.length / 2)));
    expect(cut.code).toBe(1);
    expect(cut.out.split('\n').length).toBeGreaterThan(100);
    const refused: readonly [string, number][] = [
      ['', 2],
      ['Not a trace.', 2],
      [`{"timestamp":1,"input_length":-1,"hash_ids":[]}`, 1],
    ];
    for (const [text, expected] of refused) {
      const { code, out, errors } = await trace('convert', fileOf('a.jsonl', text));
      expect({ code, out }, text).toEqual({ code: expected, out: '' });
      expect(errors.length, text).toBeGreaterThan(0);
    }
  });

  it('writes over nothing when there is nothing to read, nor over what it reads', async () => {
    const folder = folderOf({ 'in.jsonl': 'Not a trace.', 'out.jsonl': GOOD });
    const [source, file] = [join(folder, 'in.jsonl'), join(folder, 'out.jsonl')];
    expect((await trace('convert', source, '--out', file)).code).toBe(2);
    expect((await trace('convert', file, '--out', file)).code).toBe(2);
    expect(readFileSync(file, 'utf8')).toBe(GOOD);
  });
});

describe('maitred trace', () => {
  itHelps(trace, 'maitred trace', ['--help', 'convert --help', 'help convert']);

  itSuggests(trace, [
    ['convrt x', 'convert'],
    ['convert --fromat weka x', '--format'],
    ['convert --format wekka x', 'weka'],
    ['convert x --srict', '--strict'],
  ]);

  const wrong = ['a b', 'no-such-file', 'test', 'package.json/a', '--format', 'x --out', 'x --out package.json/a'];
  itRefuses(trace, ['convert', ...wrong.map((rest) => `convert ${rest}`)]);

  it('with the name of another format is wrong usage, and tells which it is', async () => {
    const { code, out, errors } = await trace('convert', '--format', 'weka', fileOf('a.jsonl', GOOD));
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(errors[0]).toContain('mooncake');
  });
});

describe('where the output goes', () => {
  it.skipIf(!existsSync('/dev/full'))('a full disk is a failure, told in a line', () => {
    const args = [BINARY, 'trace', 'convert', fileOf('a.jsonl', GOOD)];
    const { status, stderr } = spawnSync(process.execPath, args, {
      stdio: ['ignore', openSync('/dev/full', 'w'), 'pipe'],
    });
    expect(status).toBe(1);
    expect(String(stderr)).toMatch(/^maitred: .*\n$/);
  });

  it('a terminal is told nothing that it would obey', async () => {
    const id = '\u001b[2J\u009b';
    const line = (promptTokens: number) =>
      JSON.stringify({ maitredProgram: 1, id: `${id}${promptTokens}`, calls: [{ promptTokens, outputTokens: 1 }] });
    const file = fileOf('a.jsonl', `${line(1)}\n${line(1)}\n`);
    const { errors } = await trace('convert', file);
    expect(errors).toHaveLength(2);
    expect(errors.join('\n')).not.toMatch(/[^\P{Cc}\n]/u);
  });
});
