import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { FORMAT_NAMES, openTrace, programLine, type FormatName } from '../../../sim/index.js';
import { fileOf, folderOf } from '../../support/folder.js';
import { readText, readTrace } from '../../support/traces.js';
import { jsonLines, trajectory } from '../../support/trajectory.js';

/** One small file of each format. */
const SAMPLES: Record<FormatName, string> = {
  maitred: `${programLine({ id: 'a', calls: [{ after: [], gapMs: 0, thread: '', promptTokens: 1, outputTokens: 1 }] })}\n`,
  weka: jsonLines([{ id: 'a', block_size: 64, requests: [{ type: 'n', t: 0, in: 1, out: 1, hash_ids: [] }] }]),
  'mini-swe-agent': jsonLines([trajectory('a', ['b'])]),
  agentcgroup: jsonLines([{ session: 'a', calls: [{ t: 0, latency: 1, prompt: 1, output: 1, tools: [] }] }]),
  'tau-bench': JSON.stringify(
    [
      {
        task_id: 1,
        traj: [
          { role: 'user', content: 'a' },
          { role: 'assistant', content: 'b' },
        ],
      },
    ],
    undefined,
    2,
  ),
  'tree-of-thought': JSON.stringify([
    { idx: 1, steps: [{ ys: [''], new_ys: ['a'] }], usage_so_far: { prompt_tokens: 9, completion_tokens: 9 } },
  ]),
  mooncake: jsonLines([{ timestamp: 0, input_length: 9, output_length: 1, hash_ids: [1] }]),
  azure: 'TIMESTAMP,ContextTokens,GeneratedTokens\r\n2023-11-16 18:15:46.6805900,374,44\r\n',
  tracelab: jsonLines([
    { session_id: 'a', round_index: 0, input_tokens_total: 1, output_tokens: 1, timing_events: [], tools: [] },
  ]),
};

describe.each(FORMAT_NAMES)('a trace of %s', (name) => {
  const text = SAMPLES[name];

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
    const { format, programs, problems } = await readText(`{"cut\n7\n{"x":1}\n${SAMPLES.mooncake}`);
    expect({ format, problems }).toEqual({
      format: 'mooncake',
      problems: ['1 not_json', '2 bad_field', '3 bad_field timestamp'],
    });
    expect(programs).toHaveLength(1);
  });

  it.each([
    ['of nothing', '', 'empty'],
    ['of empty lines', '\n\r\n \n', 'empty'],
    ['of an empty list', '[]', 'empty'],
    ['of a table’s names alone', 'TIMESTAMP,ContextTokens,GeneratedTokens\n', 'empty'],
    ['of words', 'This is not a trace.\nNor is this.\n', 'unknown_format'],
    ['of a web page', '<!DOCTYPE html>\n<html>', 'unknown_format'],
    ['of other JSON', '{"a":1}\n{"b":2}', 'unknown_format'],
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
    ['is an archive that ends at once', () => fileOf('a.gz', gzipSync(SAMPLES.weka).subarray(0, 12))],
  ])('that %s cannot be read', async (_, file) => {
    await expect(openTrace(file())).rejects.toMatchObject({ code: 'unreadable' });
  });

  it('whose programs are not unique gives the first of each name', async () => {
    const { programs, problems } = await readText(SAMPLES.maitred.repeat(3));
    expect(programs).toHaveLength(1);
    expect(problems).toEqual(['2 duplicate', '3 duplicate']);
  });

  it('can be left before its end', async () => {
    const { programs } = await openTrace(fileOf('a.gz', gzipSync(SAMPLES.maitred.repeat(50_000))));
    for await (const { id } of programs) {
      expect(id).toBe('a');
      break;
    }
    expect((await programs.next()).done).toBe(true);
  });

  it('that breaks the terminal’s line in its errors does not', async () => {
    const error: unknown = await openTrace(fileOf('a', '[{"a": 1,\n\u001b[31m}]')).catch((reason: unknown) => reason);
    expect((error as Error).message).not.toMatch(/\p{Cc}/u);
  });
});
