import { existsSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { completion, until, world } from '../sidecar/gateway/world.js';
import { MODEL } from '../support/fake-engine.js';
import { lineOf } from '../sidecar/batches/service.js';
import { itRefuses } from '../support/command-line.js';
import { fileOf } from '../support/folder.js';
import { command, idsIn, stage } from './batch-stage.js';

describe('maitred batch run', () => {
  itRefuses(command, ['batch run', 'batch run /nowhere --target http://x -o y', 'batch plan', 'batch plan /nowhere']);

  it('asks any server, and keeps answers and errors apart', async () => {
    const { engine, file, out, batch } = await stage();
    const { code, err } = await batch();
    expect(code).toBe(1);
    expect(err).toBe(
      `2 of 4 lines answered, 2 failed\nmaitred: ${file}:3: The engine answered with status 400: no\nmaitred: lines have failed; ${out}.errors has all: --resume asks those again that you mend in ${file}, or all if you delete it\n`,
    );
    expect([idsIn(out), idsIn(`${out}.errors`)]).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ]);
    expect(engine.seen).toHaveLength(3);
    expect(await batch()).toMatchObject({ code: 2 });
  });

  it('stops at once where nothing listens, or a gateway refuses the path', async () => {
    const { file, out } = await stage();
    const { url } = await world([]);
    const at = async (target: string) => (await command('batch', 'run', file, '--target', target, '-o', out)).errors[0];
    expect(await at('http://127.0.0.1:9')).toContain('http://127.0.0.1:9: cannot be reached: connection refused');
    expect(await at(`${url}/v1/chat`)).toContain(`answers 403 at ${url}/v1/chat/v1/models: This path is`);
    expect(existsSync(out)).toBe(false);
  });

  it.each([
    ['http://x/v1/chat/completions', 'out', '--target: http://x/v1/chat/completions is the URL of calls: use'],
    ['http://x', '/dev/full', '/dev/full: is no regular file'],
  ])('refuses the target %s with the output %s', async (target, to, told) => {
    const { file, out } = await stage();
    const { code, err } = await command('batch', 'run', file, '--target', target, '-o', to === 'out' ? out : to);
    expect([code, err]).toEqual([2, expect.stringContaining(told)]);
  });

  it('refuses a file that cannot be read twice', async () => {
    const { out } = await stage();
    const told = ['maitred: /dev/null: is no regular file'];
    expect(await command('batch', 'run', '/dev/null', '--target', 'http://x', '-o', out)).toMatchObject({
      code: 2,
      errors: told,
    });
  });

  it('stops before the first line at a web site', async () => {
    const { engine, out, batch } = await stage([lineOf('a')]);
    engine.routes.set('/v1/models', (response) => void response.writeHead(200, { 'content-type': 'text/html' }).end());
    const told = 'it is a web site: /v1/models is a page';
    expect(await batch()).toMatchObject({ code: 2, err: expect.stringContaining(told) as string });
    expect([engine.seen, existsSync(out)]).toEqual([[], false]);
  });

  it('stops at the first answer of a server without the API, of which nothing is left', async () => {
    const { engine, out, batch } = await stage([lineOf('a'), lineOf('b')]);
    engine.routes.set('/v1/models', 404);
    engine.answer = (response) => void response.writeHead(501, { 'content-type': 'text/html' }).end('<p>POST?');
    const told = `${engine.url}/v1: cannot be used: ${engine.url}/v1/chat/completions answers 501;`;
    expect(await batch()).toMatchObject({ code: 2, err: expect.stringContaining(told) as string });
    engine.answer = (response) => void response.writeHead(404).end('{"error":{"message":"There is no such path."}}');
    expect((await batch()).code).toBe(2);
    engine.answer = completion();
    expect((await batch()).code).toBe(0);
    expect(idsIn(out)).toEqual(['a', 'b']);
  });

  it('stops before the first line if the key is refused', async () => {
    const { engine, out, batch } = await stage();
    engine.routes.set('/v1/models', 401);
    const told = `${engine.url}/v1: cannot be used: answers 401: OPENAI_API_KEY is not set`;
    expect(await batch()).toMatchObject({ code: 2, err: expect.stringContaining(told) as string });
    expect([engine.seen, existsSync(out)]).toEqual([[], false]);
  });

  it('waits for a server that goes away for a while, and loses no line to one that stays away', async () => {
    const { engine, out, batch } = await stage([lineOf('a'), lineOf('b'), lineOf('c')]);
    /** Answers one line, and closes. */
    engine.answer = async (response, ...rest) => {
      response.on('close', () => void engine.close());
      response.setHeader('connection', 'close');
      await completion()(response, ...rest);
    };
    const now = performance.now.bind(performance);
    /** Time that passes from one look at the clock to the next. */
    let stepMs = 0;
    let skewMs = 0;
    const first = batch('--parallel', '1');
    vi.spyOn(performance, 'now').mockImplementation(() => now() + (skewMs += stepMs));
    const asked = vi.spyOn(process.stderr, 'write');
    const hasSaid = (text: string) => asked.mock.calls.some(([said]) => String(said).includes(text));
    await until(() => hasSaid('is away, and is asked again'));
    await engine.reopen();
    await until(() => hasSaid(`${engine.url}/v1 is back`));
    stepMs = 31_000;
    const { code, err } = await first;
    expect([code, err]).toEqual([
      1,
      expect.stringContaining(`${engine.url}/v1 has been away for 60 s; --resume goes on`),
    ]);
    expect([idsIn(out).length, idsIn(`${out}.errors`)]).toEqual([2, []]);
    await engine.reopen();
    engine.answer = completion();
    expect((await batch('--resume')).code).toBe(0);
    expect(idsIn(out)).toEqual(['a', 'b', 'c']);
  });

  it('stops before the first line if the target lacks a model', async () => {
    const lines = [lineOf('a'), lineOf('b', 'x').replace('"m"', '"gpt-4o-mini"')];
    const { engine, file, out, batch } = await stage(lines);
    const told = `${file}:2: asks for the model "gpt-4o-mini"; ${engine.url}/v1 serves only: ${MODEL}`;
    expect(await batch()).toMatchObject({ code: 2, err: expect.stringContaining(told) as string });
    expect([engine.seen, existsSync(out)]).toEqual([[], false]);
  });

  it('warns of placeholders that stay as they are, in a file whose lines need others', async () => {
    const say = (content: string) => ({ body: { model: MODEL, messages: [{ role: 'user', content }] } });
    const { file, batch } = await stage([
      lineOf('topics'),
      lineOf('b', '', { after: ['topics'], ...say('${topcs} ${topics} ${item} ${HOME}') }),
      lineOf('c', '', say('${topis} ${topis} ${item} ${PATH} ${TERM}')),
    ]);
    const { code, err, errors } = await batch();
    expect(code).toBe(0);
    const told = errors.map((line) => line.replace(`maitred: ${file}:`, '').replace(' is sent as it is', ''));
    expect(told.slice(0, 6)).toEqual([
      '2: ${topcs}: did you mean ${topics}?',
      '3: ${topis}: did you mean ${topics}? "after" does not name topics',
      '2: ${item}, here and on 1 more line,: only a line with "each" has an item',
      '2: ${HOME}: it names no line of this file',
      '3: ${PATH}: it names no line of this file',
      'maitred: 1 more text like this',
    ]);
    expect((await command('batch', 'plan', file)).err).toBe(err.slice(0, err.indexOf('3 of 3')));
  });

  it('refuses a line that mentions another without needing it', async () => {
    const { engine, file, batch } = await stage([lineOf('a'), lineOf('b', 'say ${a}')]);
    const { code, errors } = await batch();
    expect([code, errors]).toEqual([
      2,
      [expect.stringContaining(`${file}:2: \${a} names a line, so "after" must name it too.`)],
    ]);
    expect([engine.seen, (await command('batch', 'plan', file)).code]).toEqual([[], 2]);
  });

  it('counts lines that their conditions leave out apart, also those of an earlier run', async () => {
    const { batch } = await stage([lineOf('a'), lineOf('b"', '', { if: { $ref: 'a', contains: 'nowhere' } })]);
    const told = '1 of 2 lines answered, 1 left out by its condition, 0 failed\n';
    expect((await batch()).err).toBe(told);
    expect((await batch('--resume')).err).toBe(told);
  });

  it('asks equal lines once, unless that pass is left out', async () => {
    const same = { body: { model: 'm', temperature: 0, messages: [{ role: 'user', content: 'x' }] } };
    for (const [asked, ...flags] of [[1], [2, '--without', 'merge']] as const) {
      const { engine, out, batch } = await stage([lineOf('a', '', same), lineOf('b', '', same)]);
      expect((await batch(...flags)).code).toBe(0);
      expect([idsIn(out), engine.seen.length]).toEqual([['a', 'b'], asked]);
    }
  });

  it('names the faults of a file by their lines, before anything runs', async () => {
    const lines = [
      lineOf('a'),
      '{',
      lineOf('b').replace('POST', 'GET'),
      lineOf('a'),
      lineOf('c', '', { after: ['z'] }),
      lineOf('d', '', { after: ['d'] }),
    ];
    const { engine, file, out, batch } = await stage(lines);
    const { code, errors } = await batch();
    expect(code).toBe(2);
    expect(errors.map((line) => [2, 3, 4, 5, 6].find((at) => line.includes(`${file}:${at}`)))).toEqual([2, 3, 4, 5, 6]);
    expect([engine.seen, existsSync(out)]).toEqual([[], false]);
  });
});

describe('maitred batch plan', () => {
  it('prints what the order saves, as text or as JSON', async () => {
    const long = (word: string) => word.repeat(1000);
    const lines = ['a', 'b', 'a', 'b'].map((word, index) => lineOf(`l${index}`, `${long(word)}${index}`));
    const file = fileOf('in.jsonl', [...lines, lineOf('x', '${l1}', { after: ['l1'] })].join('\n'));
    const { code, out } = await command('batch', 'plan', file);
    expect(code).toBe(0);
    expect(out).toMatch(
      /lines +5\ndependencies +1: a line that waits [^]*in the file's order +0 [^]*as planned +\d{3} [^]*waits for\n  l1 \(line 2\)\n[^]*  x \(line 5\), needs l1\n/,
    );
    const plan = JSON.parse((await command('batch', 'plan', file, '--json')).out) as { order: { custom_id: string }[] };
    expect(plan).toMatchObject({ version: 1, lines: 5, programs: 4, dependencies: 1 });
    expect(plan.order.map(({ custom_id }) => custom_id).slice(0, 2)).toEqual(['l1', 'l3']);
  });

  it('shows no order that saves nothing', async () => {
    const file = fileOf('in.jsonl', [lineOf('a'), lineOf('b')].join('\n'));
    expect((await command('batch', 'plan', file)).out).toMatch(
      /as planned +0 \(0 %\)\nThe order saves nothing here; --json has it\.\n$/,
    );
  });

  it('counts the tokens of all calls that a line with `each` may make', async () => {
    const body = { body: { model: 'm', max_tokens: 20, messages: [{ role: 'user', content: '${item}' }] } };
    const lines = [
      lineOf('a', '', body),
      lineOf('b', '', { each: 'a', ...body }),
      lineOf('c', '', { each: { $ref: 'a', max: 3 }, ...body }),
    ];
    const { out } = await command('batch', 'plan', fileOf('in.jsonl', lines.join('\n')), '--json');
    expect(JSON.parse(out)).toMatchObject({ outputTokens: 20 * 104, promptTokens: 2182 });
  });

  it('tells what the merge of equal lines saves, unless it is left out; a list counts once', async () => {
    const same = { body: { model: 'm', seed: 1, messages: [{ role: 'user', content: 'x'.repeat(4000) }] } };
    const lines = [lineOf('a', '', same), lineOf('b', '', same), lineOf('c', '${item}', { each: 'a' })];
    const file = fileOf('in.jsonl', lines.join('\n'));
    const figures = async (...more: string[]) =>
      JSON.parse((await command('batch', 'plan', file, '--json', ...more)).out) as Record<string, unknown>;
    expect(await figures()).toMatchObject({
      lines: 3,
      dependencies: 1,
      merged: { lines: 1 },
      order: expect.arrayContaining([expect.objectContaining({ custom_id: 'b', same_as: 'a' })]) as object,
    });
    expect(await figures('--without', 'merge,order')).toMatchObject({ merged: { lines: 0, promptTokens: 0 } });
    expect((await command('batch', 'plan', file)).out).toMatch(/equal lines +1, answered by copies; .*\d{4} \(/);
    expect((await command('batch', 'plan', file, '--without', 'each')).code).toBe(2);
  });
});
