import { truncateSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { folderOf } from '../../support/folder.js';
import { lineOf } from './service.js';
import type { Given } from './run-stage.js';
import { OK, runOf, idsOf } from './run-stage.js';

describe('a run', () => {
  const LINES = [
    lineOf('a'),
    lineOf('b', '${a}', { after: ['a'] }),
    lineOf('c'),
    lineOf('d', '${b} ${c}', { after: ['b', 'c'] }),
  ];

  it('survives a cut at any byte of its results: every line is answered once', async () => {
    const bad: Given['answer'] = (request) => (request.id.endsWith('_2') ? { ...OK, status: 400 } : OK);
    const whole = await runOf({ lines: LINES, answer: bad });
    await whole.all();
    await whole.run.close();
    const sizes = [whole.paths.output, whole.paths.errors].map((path) => statSync(path).size);
    const cut = fc.record({ output: fc.nat(sizes[0]!), errors: fc.nat(sizes[1]!) });
    await fc.assert(
      fc.asyncProperty(cut, async ({ output, errors }) => {
        const folder = folderOf({ out: readFileSync(whole.paths.output), err: readFileSync(whole.paths.errors) });
        truncateSync(join(folder, 'out'), output);
        truncateSync(join(folder, 'err'), errors);
        const { run, all, results, paths } = await runOf({ lines: LINES, answer: bad, folder });
        await all();
        expect(run.isDone).toBe(true);
        expect(results.counts).toEqual({ total: 4, completed: 2, failed: 2 });
        await run.close();
        expect(idsOf(paths.output).toSorted()).toEqual(['a', 'b']);
        expect(idsOf(paths.errors).toSorted()).toEqual(['c', 'd']);
      }),
      { numRuns: 100 },
    );
  });

  it('asks a busy server for as long as it takes, and a failing one five times, after longer and longer pauses', async () => {
    let times = 0;
    const answer: Given['answer'] = () => (++times < 50 ? { ...OK, status: 503, isBusy: true } : OK);
    const busy = await runOf({ lines: [lineOf('a')], answer });
    await busy.all();
    expect(busy.results.counts.completed).toBe(1);
    const pauses: number[] = [];
    const failing = await runOf({ lines: [lineOf('a')], answer: () => ({ ...OK, status: 500 }) });
    for (let i = 0; i < 5; i++) {
      await failing.run.startNext();
      for (const { fn, ms } of failing.timers.splice(0)) {
        pauses.push(ms);
        fn();
      }
    }
    expect(pauses).toEqual([1000, 2000, 4000, 8000]);
    expect(failing.results.counts).toEqual({ total: 1, completed: 0, failed: 1 });
    await Promise.all([busy.run.close(), failing.run.close()]);
  });

  it.each([
    [400, {}, 1],
    [404, {}, 1],
    [422, {}, 1],
    [404, { mayCome: true }, 5],
    [408, {}, 5],
    [409, {}, 5],
    [425, {}, 5],
    [502, {}, 5],
    [501, {}, 1],
    [200, { body: Buffer.from('<html>') }, 5],
    [200, { body: Buffer.from('[]') }, 5],
    [200, { body: Buffer.from('{"error":{"message":"no"}}') }, 5],
  ])('asks a line that got %d %j so often in all: %d', async (status, more, times) => {
    const answer: Given['answer'] = () => ({ ...OK, status, ...more });
    const { run, asked, all, results } = await runOf({ lines: [lineOf('a')], answer });
    await all();
    await run.close();
    expect([asked.length, results.counts.failed]).toEqual([times, 1]);
  });

  it('tells which line pauses for what, and the first that failed, also after a restart', async () => {
    const body = Buffer.from('{"error":{"message":"No such model.","code":"unknown_model"}}');
    const lines = ['', lineOf('x'), lineOf('y'), lineOf('z', '', { after: ['y'] })];
    const { run, all, timers, folder } = await runOf({
      lines,
      answer: () => ({ ...OK, status: 404, body, mayCome: true }),
    });
    expect([run.pauses, run.results.failures]).toEqual([undefined, []]);
    await run.startNext();
    const last = { line: 3, message: 'No such model.', afterMs: 1000, attemptsLeft: 4 };
    expect(run.pauses).toEqual({ calls: 1, last });
    await run.startNext();
    expect(run.pauses).toEqual({ calls: 2, last: { ...last, line: 2 } });
    timers.pop()?.fn();
    expect(run.pauses).toEqual({ calls: 1, last });
    await all();
    await run.close();
    const failures = [2, 3].map((line) => ({ code: 'unknown_model', message: 'No such model.', param: null, line }));
    expect(run.results.failures).toEqual(failures);
    const again = await runOf({ lines, folder });
    await again.run.close();
    expect(again.run.results.failures).toEqual(failures);
  });

  it('tells of the first three lines that failed, in the server’s words', async () => {
    const message = 'Refused by http://10.0.0.1:8000/x.';
    const body = Buffer.from(JSON.stringify({ error: { message } }));
    // The first are asked last, as others need the rest.
    const lines = Array.from({ length: 9 }, (_, at) => lineOf(`l${at}`, '', at < 6 ? {} : { after: [`l${at - 3}`] }));
    const { run, all } = await runOf({ lines, answer: () => ({ ...OK, status: 404, body }) });
    await all();
    await run.close();
    expect(run.results.failures).toMatchObject([1, 2, 3].map((line) => ({ line, message })));
  });

  it('keeps a line pending whose sender closes, and fails what is left with a reason', async () => {
    const { run, results, all, paths } = await runOf({ lines: LINES, answer: () => undefined });
    await all(5);
    expect(results.pending).toBe(4);
    await run.stop();
    await run.failRest('batch_expired', 'late');
    await run.close();
    expect(idsOf(paths.errors)).toEqual(['a', 'b', 'c', 'd']);
  });

  it('declares the rest of each program, and ends it with its last line', async () => {
    const headers: Record<string, unknown>[] = [];
    const { all, run } = await runOf({
      lines: [lineOf('a'), lineOf('b', 'hello', { after: ['a'] }), lineOf('alone')],
      answer: (request) => {
        headers.push(request.headers);
        return OK;
      },
    });
    await all();
    await run.close();
    expect(headers).toMatchObject([
      {
        'x-maitred-program': 'batch_b.0',
        'x-maitred-remaining': expect.stringMatching(/^prompt=\d+, output=512$/) as string,
      },
      {
        'x-maitred-program': 'batch_b.0',
        'x-maitred-remaining': expect.stringMatching(/output=256$/) as string,
        'x-maitred-final': 'true',
      },
      { 'x-maitred-program': 'batch_b.1', 'x-maitred-final': 'true' },
    ]);
    expect(headers[2]).not.toHaveProperty('x-maitred-remaining');
  });

  it.each([
    ['[1', 'bad_items'],
    ['{"a": 1}', 'bad_items'],
    ['[1,2,3,4,5,6]', 'bad_items'],
  ])('fails a line with `each` of the answer %s as one, and what needs it', async (content, code) => {
    const body = Buffer.from(JSON.stringify({ choices: [{ message: { content } }] }));
    const { all, run, results, paths } = await runOf({
      lines: [
        lineOf('list'),
        lineOf('part', '${item}', { each: { $ref: 'list', max: 5 } }),
        lineOf('sum', '${part}', { after: ['part'] }),
      ],
      answer: () => ({ ...OK, body }),
    });
    await all();
    await run.close();
    expect(results.counts).toEqual({ total: 3, completed: 1, failed: 2 });
    const errors = readFileSync(paths.errors, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { custom_id: string; error: { code: string } });
    expect(errors.map(({ custom_id: id, error }) => [id, error.code])).toEqual([
      ['part', code],
      ['sum', 'dependency_failed'],
    ]);
  });

  it('asks equal lines once, and each for itself where the first has failed or the pass is off', async () => {
    const seeded = (content: string) => ({
      body: { model: 'm', temperature: 0, messages: [{ role: 'user', content }] },
    });
    const lines = [
      lineOf('a', '', seeded('x')),
      lineOf('b', '', seeded('x')),
      lineOf('c', '', seeded('y')),
      lineOf('d', '', { ...seeded('${a}'), after: ['a'] }),
      lineOf('e', '', { ...seeded('${b}'), after: ['b'] }),
    ];
    const good = await runOf({ lines });
    await good.all();
    await good.run.close();
    expect([good.results.counts.completed, good.asked.length]).toEqual([5, 3]);
    const plain = await runOf({ lines, passes: ['order'] });
    await plain.all();
    await plain.run.close();
    expect(plain.asked).toHaveLength(5);
    const bad = await runOf({ lines: lines.slice(0, 2), answer: () => ({ ...OK, status: 400 }) });
    await bad.all();
    await bad.run.close();
    expect([bad.results.counts.failed, bad.asked.length]).toEqual([2, 2]);
  });

  it('notices an input that has changed, and asks nothing', async () => {
    const { run, folder, timers } = await runOf({ lines: [lineOf('a')] });
    writeFileSync(join(folder, 'in'), 'x'.repeat(1000));
    expect(String(await run.startNext())).toContain('has changed');
    expect(timers).toHaveLength(1);
    await run.close();
  });
});
