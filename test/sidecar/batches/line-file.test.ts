import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { LineFile, readLines } from '../../../sidecar/batches/line-file.js';
import type { LineState } from '../../../sidecar/batches/results.js';
import { Progress } from '../../../sidecar/batches/progress.js';
import { folderOf } from '../../support/folder.js';

const NO_TOKENS = { line: 1, offset: 0, length: 0, promptTokens: 0, outputTokens: 0 };

describe('a file of lines', () => {
  it('writes a line again in its place after a full disk', async () => {
    const path = join(folderOf({}), 'f');
    const errors: string[] = [];
    const file = await LineFile.open(path, 0, {
      isOurs: () => true,
      failed: (error) => Promise.resolve(errors.push(error.message) < 3),
    });
    await file.append('first');
    const write = vi.spyOn(file.handle, 'write');
    write.mockImplementationOnce((async (bytes: Buffer, from: number, _length: number, at: number) => {
      write.mockRejectedValueOnce(new Error('ENOSPC'));
      return file.handle.write(bytes, from, 3, at);
    }) as unknown as typeof file.handle.write);
    write.mockRejectedValueOnce(new Error('ENOSPC'));
    expect(await file.append('second')).toEqual({ offset: 6, length: 6 });
    expect(await file.append('third')).toEqual({ offset: 13, length: 5 });
    expect(readFileSync(path, 'utf8')).toBe('first\nsecond\nthird\n');
    write.mockRejectedValue(new Error('ENOSPC'));
    await expect(file.append('lost')).rejects.toThrow('ENOSPC');
    write.mockRestore();
    await file.append('last');
    await file.handle.close();
    expect(errors.length).toBeGreaterThan(1);
    expect(readFileSync(path, 'utf8')).toBe('first\nsecond\nthird\nlast\n');
  });

  it('is read line by line, whatever the lengths', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.stringMatching(/^[a-z]{0,9}$/), { maxLength: 20 }),
        fc.nat(5),
        async (lines, keep) => {
          const path = join(folderOf({ f: lines.join('\n') }), 'f');
          const found = [];
          for await (const some of readLines(path, keep)) found.push(...some);
          const expected = lines.at(-1) === '' ? lines.slice(0, -1) : lines;
          expect(found.map(({ head }) => head.toString())).toEqual(expected.map((line) => line.slice(0, keep)));
          expect(found.map(({ length }) => length)).toEqual(expected.map(({ length }) => length));
          expect(found.map(({ number }) => number)).toEqual(expected.map((_, index) => index + 1));
        },
      ),
    );
  });
});

describe('ready lines', () => {
  it('come out of a part the first of the order first, and of the others the last first', () => {
    const step = fc.oneof(fc.nat(5000), fc.tuple(fc.nat(5000), fc.nat(3000)));
    fc.assert(
      fc.property(fc.integer({ min: 5001, max: 40_000 }), fc.array(step, { maxLength: 200 }), (bound, steps) => {
        const order = Uint32Array.from({ length: bound }, (_, rank) => bound - 1 - rank);
        const none = Array.from({ length: bound }, () => []);
        const originals = order.toReversed();
        const lines = Array.from({ length: bound }, () => NO_TOKENS);
        const programs = Int32Array.from(order);
        const given = { order, needs: none, dependents: none, originals, programs, lines };
        // All have an end, so none is ready at first.
        const ready = new Progress(given, () => 'completed');
        const model = new Set<number>();
        for (const each of steps) {
          if (typeof each === 'number') {
            ready.add(order[each]!);
            model.add(each);
          } else {
            const [from, length] = each;
            const own = [...model].filter((rank) => rank >= from && rank < from + length);
            const taken = own.length > 0 ? Math.min(...own) : model.size > 0 ? Math.max(...model) : undefined;
            expect(ready.take((from + 0.5) / bound, (from + length + 0.5) / bound)).toBe(
              taken === undefined ? undefined : order[taken],
            );
            if (taken !== undefined) model.delete(taken);
          }
          expect(ready.ready).toBe(model.size);
        }
      }),
    );
  });

  it('are those alone whose needs have all completed', () => {
    const states: LineState[] = ['pending', 'pending', 'pending', 'pending'];
    const given = {
      order: Uint32Array.of(0, 1, 2, 3),
      needs: [[], [], [0, 1], [0]],
      dependents: [[2, 3], [2], [], []],
      originals: Uint32Array.of(0, 1, 2, 3),
      programs: Int32Array.of(0, 0, 0, 0),
      lines: [NO_TOKENS, NO_TOKENS, NO_TOKENS, NO_TOKENS],
    };
    const ready = new Progress(given, (index) => states[index]!);
    expect([ready.take(0, 1), ready.take(0, 1)]).toEqual([0, 1]);
    states[1] = 'failed';
    ready.done(1);
    states[0] = 'completed';
    ready.done(0);
    expect([ready.take(0, 1), ready.take(0, 1)]).toEqual([3, undefined]);
  });
});
