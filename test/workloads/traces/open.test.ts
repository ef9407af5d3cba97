import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { FORMAT_NAMES, openTrace } from '../../../workloads/index.js';
import { fileOf, folderOf } from '../../support/folder.js';
import { readText, readTrace } from '../../support/traces.js';
import { sampleTrace } from '../../support/sample-trace.js';

describe.each(FORMAT_NAMES)('a trace of %s', (name) => {
  const text = sampleTrace(name, 1);

  it('is known by what is in it, plain or packed, whatever its name and its line ends', async () => {
    const windows = `\uFEFF${text.replaceAll(/\r?\n/g, '\r\n')}`;
    const traces = [
      await readText(text),
      await readText(text.trimEnd()),
      await readText(windows),
      await readText(gzipSync(text)),
      await readTrace(fileOf('a.txt.gz', gzipSync(windows))),
      await readText(text, name),
    ];
    for (const { format, programs, problems } of traces) {
      expect({ format, problems }).toEqual({ format: name, problems: [] });
      expect(programs).toHaveLength(1);
      expect(programs).toEqual(traces[0]!.programs);
    }
  });

  it('is refused under any other name, which tells what it looks like', async () => {
    for (const other of FORMAT_NAMES.filter((each) => each !== name)) {
      const opened = openTrace(fileOf('a', text), { format: other });
      await expect(opened).rejects.toMatchObject({
        code: 'wrong_format',
        message: expect.stringContaining(name) as string,
      });
    }
  });
});

describe('a file', () => {
  it('is known by its first good record', async () => {
    const { format, programs, problems } = await readText(`{"cut\n7\n{"x":1}\n${sampleTrace('mooncake', 1)}`);
    expect({ format, problems }).toEqual({
      format: 'mooncake',
      problems: ['1 not_json', '2 bad_field', '3 bad_field timestamp'],
    });
    expect(programs).toHaveLength(1);
  });

  it('may begin with much space', async () => {
    const { format, programs } = await readText(' \n'.repeat(100_000) + sampleTrace('tau-bench', 2));
    expect(format).toBe('tau-bench');
    expect(programs).toHaveLength(2);
  });

  it.each([
    ['of nothing', '', 'empty'],
    ['of empty lines', '\n\r\n \n', 'empty'],
    ['of an empty list', '[]', 'empty'],
    ['of a table’s names alone', 'TIMESTAMP,ContextTokens,GeneratedTokens\n', 'empty'],
    ['of words', 'This is not a trace.\nNor is this.\n', 'unknown_format'],
    ['of a web page', '<!DOCTYPE html>\n<html>', 'unknown_format'],
    ['of other JSON', '{"a":1}\n{"b":2}', 'unknown_format'],
    ['of a batch', '{"custom_id":"a","method":"POST","url":"/v1/chat/completions","body":{}}', 'unknown_format'],
    ['of another list', '[1,2,3]', 'unknown_format'],
    ['of another table', 'a,b\n1,2\n', 'unknown_format'],
    ['of bytes', Buffer.of(0, 1, 2, 255, 254), 'unknown_format'],
  ])('%s is refused', async (_, text, code) => {
    expect(await readText(text)).toEqual({ format: undefined, programs: [], problems: [code] });
    await expect(openTrace(fileOf('a', text))).rejects.toMatchObject({ code });
  });

  it.each([
    ['is not there', () => `${fileOf('a', '')}.missing`],
    ['is a folder', () => folderOf({})],
    ['is no archive, but is called one', () => fileOf('a.gz', 'no archive')],
    ['is an archive that ends at once', () => fileOf('a.gz', gzipSync(sampleTrace('weka', 1)).subarray(0, 12))],
  ])('that %s cannot be read', async (_, file) => {
    await expect(openTrace(file())).rejects.toMatchObject({ code: 'unreadable' });
  });

  it('whose programs are not unique gives the first of each name', async () => {
    const { programs, problems } = await readText(sampleTrace('maitred', 1).repeat(3));
    expect(programs).toHaveLength(1);
    expect(problems).toEqual(['2 duplicate', '3 duplicate']);
  });

  it('that breaks the terminal’s line in its errors does not', async () => {
    const error: unknown = await openTrace(fileOf('a', '[{"a": 1,\n\u001b[31m}]')).catch((reason: unknown) => reason);
    expect((error as Error).message).not.toMatch(/\p{Cc}/u);
  });
});
