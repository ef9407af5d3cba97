import { truncateSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { folderOf } from '../../support/folder.js';
import { lineOf } from './service.js';
import type { Given } from './run-stage.js';
import { OK, runOf, idsOf } from './run-stage.js';

describe('a run with lists', () => {
  const NUMBERS = { ...OK, body: Buffer.from('{"choices":[{"message":{"content":"[1, {\\"n\\": 2}, 3]"}}]}') };
  const textsOf = (bodies: readonly string[]) =>
    bodies.map((body) => (JSON.parse(body) as { messages: { content: string }[] }).messages[0]!.content);

  it('asks a line with `each` once for every item, and then what needs all of them', async () => {
    const asked: string[] = [];
    const { all, run, results, paths } = await runOf({
      lines: [
        lineOf('list'),
        lineOf('sum', '${part}', { after: ['part'] }),
        lineOf('part', 'of ${item}', { each: { $ref: 'list', max: 5 } }),
        lineOf('again', '<${item}>', { each: 'part' }),
      ],
      answer: ({ body }) => {
        asked.push(body.toString());
        return asked.length === 1 ? NUMBERS : OK;
      },
    });
    expect(results.counts.total).toBe(4);
    await all();
    expect(run.isDone).toBe(true);
    expect(results.counts).toEqual({ total: 8, completed: 8, failed: 0 });
    await run.close();
    const parts = ['part[0]', 'part[1]', 'part[2]'];
    expect(idsOf(paths.output).toSorted()).toEqual(['again[0]', 'again[1]', 'again[2]', 'list', ...parts, 'sum']);
    expect(textsOf(asked).toSorted()).toEqual(
      ['hello', 'of 1', 'of {"n":2}', 'of 3', 'x\n\nx\n\nx', '<x>', '<x>', '<x>'].toSorted(),
    );
  });

  it('survives a cut at any byte with lists, conditions and equal lines: every call is answered once', async () => {
    const seeded = { body: { model: 'm', seed: 1, messages: [{ role: 'user', content: 'same' }] } };
    const lines = [
      lineOf('list'),
      lineOf('part', '${item}', { each: { $ref: 'list', max: 5 } }),
      lineOf('sum', '${part}', { after: ['part'] }),
      lineOf('no', 'never', { if: { $ref: 'list', contains: 'zzz' } }),
      lineOf('after no', '<${no}>', { after: ['no'] }),
      lineOf('bad list', '${item}', { each: 'no' }),
      lineOf('same1', '', seeded),
      lineOf('same2', '', seeded),
    ];
    const answer: Given['answer'] = ({ id }) => (id.endsWith('_0') ? NUMBERS : OK);
    const whole = await runOf({ lines, answer });
    await whole.all();
    await whole.run.close();
    const ids = ['after no', 'list', 'no', 'part[0]', 'part[1]', 'part[2]', 'same1', 'same2', 'sum'];
    expect(idsOf(whole.paths.output).toSorted()).toEqual(ids);
    expect(whole.asked).toHaveLength(7);
    const size = statSync(whole.paths.output).size;
    await fc.assert(
      fc.asyncProperty(fc.nat(size), fc.nat(9), async (kept, stopsAfter) => {
        const folder = folderOf({ out: readFileSync(whole.paths.output) });
        truncateSync(join(folder, 'out'), kept);
        const first = await runOf({ lines, answer, folder });
        await first.all(stopsAfter);
        await first.run.close();
        const { run, all, results, paths } = await runOf({ lines, answer, folder });
        await all();
        expect(run.isDone).toBe(true);
        expect(results.counts).toEqual({ total: 9, completed: 9, failed: 0 });
        await run.close();
        expect(idsOf(paths.output).toSorted()).toEqual(ids);
      }),
      { numRuns: 60 },
    );
  });

  it('names the items that were left when a batch ends early', async () => {
    const lines = [
      lineOf('list'),
      lineOf('part', '${item}', { each: { $ref: 'list', max: 5 } }),
      lineOf('late', '${item}', { each: 'part' }),
    ];
    const { all, run, results, paths, folder } = await runOf({ lines, answer: () => NUMBERS });
    await all(3);
    await run.close();
    const again = await runOf({ lines, folder });
    await again.run.stop();
    await again.run.failRest('batch_expired', 'late');
    await again.run.close();
    expect([results.counts.completed, again.results.pending]).toEqual([2, 0]);
    expect(again.results.counts).toEqual({ total: 5, completed: 2, failed: 0 });
    const reread = await runOf({ lines, folder });
    expect(reread.results.counts).toEqual(again.results.counts);
    await reread.run.close();
    const named = [...idsOf(paths.output), ...idsOf(paths.errors)].toSorted();
    expect(named).toEqual(['late', 'list', 'part[0]', 'part[1]', 'part[2]']);
  });
});
