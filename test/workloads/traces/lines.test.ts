import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readBytes, splitLines, TraceError } from '../../../workloads/traces/pieces.js';
import { fileOf } from '../../support/folder.js';

/** Each line as `number text`, each fault as `number code`, and the code of what ended it early. */
async function read(file: string, lineBytesMax?: number): Promise<string[]> {
  const seen: string[] = [];
  try {
    for await (const line of splitLines(file, readBytes(file), lineBytesMax)) {
      seen.push(
        line instanceof TraceError ? `${line.place?.number} ${line.code}` : `${line.place.number} ${line.text}`,
      );
    }
  } catch (error) {
    if (!(error instanceof TraceError)) throw error;
    seen.push(`${error.place?.number} ${error.code}`);
  }
  return seen;
}

describe('the lines of a file', () => {
  it('come with their numbers, empty ones left out, the last one with or without an end', async () => {
    expect(await read(fileOf('a.jsonl', 'one\n\n  \ntwo\r\nthree'))).toEqual(['1 one', '4 two\r', '5 three']);
    expect(await read(fileOf('a.jsonl', 'one\n'))).toEqual(['1 one']);
    expect(await read(fileOf('a.jsonl', ''))).toEqual([]);
  });

  it('are read on behind one that is too long or not UTF-8', async () => {
    const text = Buffer.concat([Buffer.from('one\n'), Buffer.of(0xff, 0x0a), Buffer.from('123456789\nfour')]);
    expect(await read(fileOf('a.jsonl', text), 8)).toEqual(['1 one', '2 not_utf8', '3 too_long', '4 four']);
  });

  it('are the same however long they are', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string({ maxLength: 40, unit: 'grapheme' })), async (texts) => {
        // Some that span the pieces in which a file is read.
        const lines = texts.flatMap((text) => [text.replaceAll('\n', ''), 'x'.repeat(text.length * 2000)]);
        const expected = lines.flatMap((line, index) => (line.trim() === '' ? [] : [`${index + 1} ${line}`]));
        expect(await read(fileOf('a.jsonl', lines.join('\n')))).toEqual(expected);
      }),
      { numRuns: 30, seed: 1 },
    );
  });
});
