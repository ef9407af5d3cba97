import { gzipSync } from 'node:zlib';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { recordedWorkload, smallWorkload, syntheticWorkload } from '../../demo/workload.js';
import type { TraceError } from '../../workloads/index.js';
import { folderOf } from '../support/folder.js';
import { jsonLines, trajectory } from '../support/trajectory.js';

const rows = (name: string, count: number) =>
  Array.from({ length: count }, (_, row) => trajectory(`${name}-${row}`, ['one', 'two']));

async function read(path: string, count: number) {
  const problems: TraceError[] = [];
  const workload = await recordedWorkload(path, count, (problem) => problems.push(problem));
  return { ids: workload?.programs.map(({ id }) => id), problems };
}

describe('recorded programs', () => {
  it('are the first of a folder’s files, by name', async () => {
    const folder = folderOf({
      'b.jsonl': jsonLines(rows('b', 3)),
      'a.jsonl.gz': gzipSync(jsonLines(rows('a', 2))),
      'LICENSE.md': 'Not a trace.',
    });
    expect((await read(folder, 4)).ids).toEqual(['a-0', 'a-1', 'b-0', 'b-1']);
    expect((await read(folder, 1)).ids).toEqual(['a-0']);
    expect((await read(folder, 9)).ids).toEqual(['a-0', 'a-1', 'b-0', 'b-1', 'b-2']);
    expect((await read(join(folder, 'b.jsonl'), 9)).ids).toEqual(['b-0', 'b-1', 'b-2']);
  });

  it('are taken from the files after one that is cut or malformed, and each loss is told', async () => {
    const packed = gzipSync(jsonLines(rows('a', 400)));
    const folder = folderOf({
      'a.jsonl.gz': packed.subarray(0, packed.length - 40),
      'b.jsonl': `{"instance_id": 7}\n${jsonLines(rows('b', 1))}`,
      'c.jsonl.gz': 'no archive',
    });
    const { ids, problems } = await read(folder, 1000);
    expect(ids).toContain('b-0');
    expect(problems).toMatchObject([
      { file: join(folder, 'a.jsonl.gz'), code: 'unreadable' },
      { file: join(folder, 'b.jsonl'), code: 'bad_field', place: { number: 1 }, field: 'instance_id' },
      { file: join(folder, 'c.jsonl.gz'), code: 'unreadable' },
    ]);
  });

  it('are none where there is no folder, or nothing in it', async () => {
    expect((await read(join(folderOf({}), 'missing'), 1)).ids).toBeUndefined();
    expect((await read(folderOf({ 'a.jsonl': '\n' }), 1)).ids).toBeUndefined();
  });
});

describe('what programs ask of a cache', () => {
  it('is their contexts at their largest, on average, and the largest of any', () => {
    const { programs, demand } = syntheticWorkload(6, 1);
    expect(demand.calls).toBe(programs.reduce((sum, { calls }) => sum + calls.length, 0));
    expect(demand.meanTokens).toBeLessThan(demand.largestTokens);
    expect(demand.peakTokens).toBeGreaterThan(demand.largestTokens / 6);
    expect(demand.peakTokens).toBeLessThan(demand.largestTokens);
  });

  it('is what was wanted of the small ones, which leave the answers to the engine', () => {
    const { programs, demand } = smallWorkload(24, 1, 1600, 5);
    expect(demand.largestTokens).toBeGreaterThan(24 * 1600 * 0.92);
    expect(demand.largestTokens).toBeLessThan(24 * 1600 * 1.08);
    expect(programs.flatMap(({ calls }) => calls).every(({ answer }) => answer === undefined)).toBe(true);
  });
});
