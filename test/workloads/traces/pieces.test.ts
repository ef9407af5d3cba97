import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readBytes, splitLines, TraceError, splitItems } from '../../../workloads/traces/pieces.js';
import { fileOf } from '../../support/folder.js';

/** Each line as `number text`, each fault as `number code`, and the code of what ended it early. */
async function readLines(file: string, lineBytesMax?: number): Promise<string[]> {
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
    expect(await readLines(fileOf('a.jsonl', 'one\n\n  \ntwo\r\nthree'))).toEqual(['1 one', '4 two\r', '5 three']);
    expect(await readLines(fileOf('a.jsonl', 'one\n'))).toEqual(['1 one']);
    expect(await readLines(fileOf('a.jsonl', ''))).toEqual([]);
  });

  it('are read on behind one that is too long or not UTF-8', async () => {
    const text = Buffer.concat([Buffer.from('one\n'), Buffer.of(0xff, 0x0a), Buffer.from('123456789\nfour')]);
    expect(await readLines(fileOf('a.jsonl', text), 8)).toEqual(['1 one', '2 not_utf8', '3 too_long', '4 four']);
  });

  it('are the same however long they are', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string({ maxLength: 40, unit: 'grapheme' })), async (texts) => {
        // Some that span the pieces in which a file is read.
        const lines = texts.flatMap((text) => [text.replaceAll('\n', ''), 'x'.repeat(text.length * 2000)]);
        const expected = lines.flatMap((line, index) => (line.trim() === '' ? [] : [`${index + 1} ${line}`]));
        expect(await readLines(fileOf('a.jsonl', lines.join('\n')))).toEqual(expected);
      }),
      { numRuns: 30, seed: 1 },
    );
  });
});

/** Each item as `number text`, each fault as `number code`. */
async function split(bytes: AsyncIterable<Buffer>, itemBytesMax?: number): Promise<string[]> {
  const seen: string[] = [];
  for await (const item of splitItems('list', bytes, itemBytesMax)) {
    seen.push(
      item instanceof TraceError ? `${item.place?.number} ${item.code}` : `${item.place.number} ${item.text.trim()}`,
    );
  }
  return seen;
}
const read = (text: string | Uint8Array, itemBytesMax?: number) =>
  split(readBytes(fileOf('a.json', text)), itemBytesMax);

describe('the items of a list', () => {
  it('come with their numbers, whatever is in them', async () => {
    expect(await read('[{"a":[1,2]} , "x,]\\"" ,[],{}, 7]')).toEqual([
      '1 {"a":[1,2]}',
      '2 "x,]\\""',
      '3 []',
      '4 {}',
      '5 7',
    ]);
    expect(await read('\uFEFF \n[\n  1\n]\n')).toEqual(['1 1']);
    expect(await read('[ ]')).toEqual([]);
  });

  it('are read on behind one that is too long or not UTF-8', async () => {
    const text = Buffer.concat([Buffer.from('["one",'), Buffer.of(0xff), Buffer.from(',"123456789","four"]')]);
    expect(await read(text, 8)).toEqual(['1 "one"', '2 not_utf8', '3 too_long', '4 "four"']);
  });

  it('that are missing are told in their place', async () => {
    expect(await read('[1,,3,]')).toEqual(['1 1', '2 ', '3 3', '4 ']);
  });

  it('are those of the list, in whatever pieces it comes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.jsonValue({ maxDepth: 3 })),
        fc.constantFrom(undefined, 2),
        fc.integer({ min: 1, max: 7 }),
        async (items, indent, size) => {
          const bytes = Buffer.from(JSON.stringify(items, undefined, indent));
          async function* pieces() {
            for (let at = 0; at < bytes.length; at += size) yield Promise.resolve(bytes.subarray(at, at + size));
          }
          const texts = items.map((item, index) => `${index + 1} ${JSON.stringify(item)}`);
          const seen = await split(pieces());
          expect(seen.map((text) => text.replace(/(?<=^\d+ ).*/s, (json) => JSON.stringify(JSON.parse(json))))).toEqual(
            texts,
          );
        },
      ),
      { numRuns: 200, seed: 5 },
    );
  });
});
