import { setTimeout } from 'node:timers/promises';
import { constants, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readBytes, splitLines, TraceError, splitItems } from '../../../workloads/traces/pieces.js';
import { fileOf } from '../../support/folder.js';

type Piece = TraceError | { readonly place: { readonly number: number }; readonly text: string };

/** Each piece as `number text`, each fault as `number code`, and the code of what ended it early. */
async function told(pieces: AsyncIterable<Piece>): Promise<string[]> {
  const seen: string[] = [];
  const fault = ({ place, code }: TraceError) => void seen.push(`${place?.number} ${code}`);
  try {
    for await (const piece of pieces)
      if (piece instanceof TraceError) fault(piece);
      else seen.push(`${piece.place.number} ${piece.text}`);
  } catch (error) {
    if (!(error instanceof TraceError)) throw error;
    fault(error);
  }
  return seen;
}

const readLines = (file: string, bytesMax?: number) => told(splitLines(file, readBytes(file), bytesMax));

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

  it('are all that an archive without its end has, however slowly they are taken', async () => {
    const text = Array.from({ length: 20_000 }, (_, at) => `${at} ${Math.sin(at)}\n`).join('');
    const file = fileOf('a.gz', gzipSync(text, { finishFlush: constants.Z_SYNC_FLUSH }));
    let bytes = 0;
    const read = async () => {
      for await (const piece of readBytes(file)) {
        bytes += piece.length;
        await setTimeout(1);
      }
    };
    await expect(read()).rejects.toThrow();
    expect(bytes).toBe(text.length);
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

const split = async (bytes: AsyncIterable<Buffer>, bytesMax?: number) =>
  (await told(splitItems('list', bytes, bytesMax))).map((each) => each.trim().replace(/\s+/, ' '));
const read = (text: string | Uint8Array, bytesMax?: number) => split(readBytes(fileOf('a.json', text)), bytesMax);

describe('the items of a list', () => {
  it('come with their numbers, whatever is in them', async () => {
    const items = ['1 {"a":[1,2]}', '2 "x,]\\""', '3 []', '4 {}', '5 7'];
    expect(await read('[{"a":[1,2]} , "x,]\\"" ,[],{}, 7]')).toEqual(items);
    expect(await read('\uFEFF \n[\n  1\n]\n')).toEqual(['1 1']);
    expect(await read('[ ]')).toEqual([]);
  });

  it('are read on behind one that is too long or not UTF-8', async () => {
    const text = Buffer.concat([Buffer.from('["one",'), Buffer.of(0xff), Buffer.from(',"123456789","four"]')]);
    expect(await read(text, 8)).toEqual(['1 "one"', '2 not_utf8', '3 too_long', '4 "four"']);
  });

  it('that are missing are told in their place', async () => {
    expect(await read('[1,,3,]')).toEqual(['1 1', '2', '3 3', '4']);
  });

  it('are those of the list, in whatever pieces it comes', async () => {
    const list = fc.array(fc.jsonValue({ maxDepth: 3 }));
    const cuts = fc.asyncProperty(list, fc.constantFrom(undefined, 2), fc.integer({ min: 1, max: 7 }), check);
    await fc.assert(cuts, { numRuns: 200, seed: 5 });

    async function check(items: unknown[], indent: number | undefined, size: number) {
      const bytes = Buffer.from(JSON.stringify(items, undefined, indent));
      async function* pieces() {
        for (let at = 0; at < bytes.length; at += size) yield Promise.resolve(bytes.subarray(at, at + size));
      }
      const texts = items.map((item, index) => `${index + 1} ${JSON.stringify(item)}`);
      const seen = await split(pieces());
      expect(seen.map((text) => text.replace(/(?<=^\d+ ).*/s, (json) => JSON.stringify(JSON.parse(json))))).toEqual(
        texts,
      );
    }
  });
});
