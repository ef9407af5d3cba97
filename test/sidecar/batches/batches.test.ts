import { describe, expect, it } from 'vitest';
import {
  ask,
  completion,
  gate,
  held,
  lone,
  ONE_AT_A_TIME,
  post,
  recording,
  replies,
  until,
  type Answer,
  type World,
} from '../gateway/world.js';
import { batchOf, CHAT, create, inFolder, lineOf, reached, resultsOf, shown, upload } from './service.js';
import { echo } from './service.js';

const explained = async (read: World['read'], id: string) =>
  (await read<{ text: string }>(`/programs/${id}/explain`)).text;

describe('a batch', () => {
  it('answers every line, in OpenAI’s forms', async () => {
    const { url } = await lone(echo, inFolder());
    const lines = [lineOf('a', 'one'), '', lineOf('b', 'two')];
    const file = (await upload(url, lines.join('\n'))).json();
    expect(file).toMatchObject({ object: 'file', purpose: 'batch', filename: 'in.jsonl', status: 'processed' });
    expect(file['bytes']).toBe(lines.join('\n').length);
    const made = (
      await create(url, file['id'], {
        metadata: { of: 'test' },
        output_expires_after: { anchor: 'created_at', seconds: 3600 },
      })
    ).json();
    expect(made).toMatchObject({
      object: 'batch',
      endpoint: CHAT,
      status: 'validating',
      metadata: { of: 'test' },
      errors: null,
      output_file_id: null,
      usage: { total_tokens: 0 },
    });
    expect(made['expires_at']).toBe((made['created_at'] as number) + 86_400);
    const batch = await reached(url, made['id'] as string, 'completed');
    expect(batch).toMatchObject({
      request_counts: { total: 2, completed: 2, failed: 0 },
      error_file_id: null,
      usage: { input_tokens: 14, output_tokens: 6, total_tokens: 20 },
      model: 'm',
    });
    const results = await resultsOf(url, batch['output_file_id']);
    const texts = results.map(({ custom_id, response, error }) => [
      custom_id,
      response?.status_code,
      error,
      (response?.body['choices'] as object[])[0],
    ]);
    expect(texts.toSorted()).toEqual([
      ['a', 200, null, { message: { content: '<one>' } }],
      ['b', 200, null, { message: { content: '<two>' } }],
    ]);
    const output = (await ask(`${url}/v1/files/${String(batch['output_file_id'])}`)).json();
    expect(output).toMatchObject({
      purpose: 'batch_output',
      bytes: expect.any(Number) as number,
      expires_at: (output['created_at'] as number) + 3600,
    });
  });

  it('fails a line at once whose model no engine has, as all are known', async () => {
    const { url, read } = await lone(echo, inFolder());
    const body = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'x' }] };
    const id = await batchOf(url, [lineOf('a', '', { body })]);
    let pauses = 0;
    await until(async () => {
      if ((await explained(read, id)).includes('pauses for')) pauses += 1;
      return (await shown(url, id))['status'] === 'completed';
    });
    expect(pauses).toBe(0);
    const batch = await shown(url, id);
    expect((await resultsOf(url, batch['error_file_id']))[0]).toMatchObject({ response: { status_code: 404 } });
  });

  it('gives lines the answers that they need, and declares each component as a program', async () => {
    const { steps, recorder } = recording();
    const { url } = await lone(echo, inFolder(), { recorder });
    const content = [{ $ref: 'a', path: 'choices.0.message.content' }];
    const id = await batchOf(url, [
      lineOf('c', 'c of ${b} and ${HOME}', { after: ['b'] }),
      lineOf('b', '', { body: { model: 'm', messages: [{ role: 'user', content }] } }),
      lineOf('a', 'first'),
      lineOf('alone'),
    ]);
    const batch = await reached(url, id, 'completed');
    const results = await resultsOf(url, batch['output_file_id']);
    const c = results.find(({ custom_id }) => custom_id === 'c');
    expect(c?.response?.body['choices']).toEqual([{ message: { content: '<c of <<first>> and ${HOME}>' } }]);
    const arrivals = steps.flatMap(({ event }) => (event.type === 'callArrived' ? [event] : []));
    const programs = new Map(arrivals.map(({ program, remaining }) => [program, remaining !== undefined]));
    expect([...programs.values()].toSorted()).toEqual([false, true]);
    expect(arrivals.every(({ tenant }) => tenant === 'default/batch')).toBe(true);
  });

  it('fails the lines that need a failed one, by its name, and no other', async () => {
    const { engine, url } = await lone(
      (...asked) => (asked[1].body.includes('bad') ? replies(400, { error: { message: 'no' } }) : echo)(...asked),
      inFolder(),
    );
    const id = await batchOf(url, [
      lineOf('x', 'bad'),
      lineOf('y', '${x}', { after: ['x'] }),
      lineOf('z', '${y} ${ok}', { after: ['y', 'ok'] }),
      lineOf('ok'),
      lineOf('lost', '', { body: { model: 'm', messages: [{ $ref: 'ok', path: 'choices.7' }] } }),
    ]);
    const batch = await reached(url, id, 'completed');
    expect(batch['request_counts']).toEqual({ total: 5, completed: 1, failed: 4 });
    const errors = await resultsOf(url, batch['error_file_id']);
    const found = Object.fromEntries(
      errors.map(({ custom_id, response, error }) => [custom_id, response?.status_code ?? error]),
    );
    expect(found).toMatchObject({
      x: 400,
      y: { code: 'dependency_failed', message: expect.stringContaining('"x"') as string },
      z: { code: 'dependency_failed', message: expect.stringContaining('"y"') as string },
      lost: { code: 'missing_answer' },
    });
    expect(engine.seen).toHaveLength(2);
  });

  it('whose file is faulty fails with the numbers of its lines, before anything runs', async () => {
    const { engine, url } = await lone(undefined, inFolder());
    const failed = async (content: string | Buffer) => {
      const file = (await upload(url, content)).json();
      const batch = await reached(url, (await create(url, file['id'])).json()['id'] as string, 'failed');
      return (batch['errors'] as { data: { code: string; line: number | null }[] }).data.map(({ code, line }) => [
        code,
        line,
      ]);
    };
    expect(await failed('\n')).toEqual([['empty_file', null]]);
    expect(await failed(`${lineOf('a')}\n{\n\n${lineOf('b').replace('POST', 'PUT')}`)).toEqual([
      ['invalid_json_line', 2],
      ['invalid_request', 4],
    ]);
    expect(await failed(Buffer.from([0x7b, 0xff, 0x7d]))).toEqual([['invalid_file', 1]]);
    expect(await failed(Buffer.concat([Buffer.from(`${lineOf('a')}\n`), Buffer.from([0xff])]))).toEqual([
      ['invalid_json_line', 2],
    ]);
    expect(await failed([lineOf('a'), lineOf('a')].join('\n'))).toEqual([['duplicate_custom_id', 2]]);
    const twice = lineOf('a', 'x', { aftr: [] }).replace('completions', 'completion');
    const told = [
      ['invalid_request', 2],
      ['invalid_request', 2],
      ['duplicate_custom_id', 2],
      ['invalid_json_line', 4],
    ];
    expect(
      await failed([lineOf('a'), twice, lineOf('c', 'x', { after: ['d'] }), '{"custom_id": "d"'].join('\n')),
    ).toEqual(told);
    const lists = [0, 1, 2, 3, 4, 5].map((at) => lineOf(`l${at}`, '', { each: { $ref: 'l0', max: 10_000 } }));
    expect(await failed(lists.join('\n'))).toEqual([['too_many_lines', 6]]);
    expect(await failed(lineOf('a', 'x', { after: ['a'] }))).toEqual([['circular_dependency', 1]]);
    expect(await failed(lineOf('a', 'x'.repeat(2_000_000)))).toEqual([['line_too_long', 1]]);
    expect(engine.seen).toEqual([]);
  });

  it('ends its programs at its end, also those whose last line was left out or is a copy', async () => {
    const { url, read } = await lone(echo, inFolder());
    const same = { body: { model: 'm', temperature: 0, messages: [{ role: 'user', content: 'x' }] } };
    const lines = [
      lineOf('a'),
      lineOf('b', '', { if: { $ref: 'a', contains: 'nowhere' } }),
      lineOf('c', '', same),
      lineOf('d', '', same),
      lineOf('e', '${d}', { after: ['d'], if: { $ref: 'd', contains: 'nowhere' } }),
    ];
    await reached(url, await batchOf(url, lines), 'completed');
    expect(await read('/programs')).toMatchObject({ programs: [] });
  });

  it('warns of placeholders that are sent as they are, in a file whose lines need others', async () => {
    const { url } = await lone(echo, inFolder());
    const id = await batchOf(url, [
      lineOf('topics'),
      lineOf('b', '${topcs}', { after: ['topics'] }),
      lineOf('c', '${HOME} ${item}'),
    ]);
    const { warnings } = await reached(url, id, 'completed');
    const kept = { code: 'placeholder_kept', param: 'body' };
    expect(warnings).toEqual({
      object: 'list',
      data: [2, 3, 3].map((at) => expect.objectContaining({ ...kept, line: at }) as object),
    });
    const plain = await reached(url, await batchOf(url, [lineOf('topics'), lineOf('b', '${topcs}')]), 'completed');
    expect(plain['warnings']).toBeNull();
  });

  it('whose lines all ask another path than its endpoint fails; one with some such lines warns', async () => {
    const { url, read } = await lone(undefined, inFolder());
    const other = { endpoint: '/v1/embeddings' };
    const id = await batchOf(url, [lineOf('a'), lineOf('b')], other);
    const fault = [{ code: 'other_endpoint', line: 1, param: 'url' }];
    expect(await reached(url, id, 'failed')).toMatchObject({ errors: { data: fault } });
    const both = [lineOf('a', '', { url: '/v1/embeddings', body: { model: 'm', input: 'x' } }), lineOf('b')];
    const mixed = await reached(url, await batchOf(url, both, other), 'completed');
    expect(mixed['warnings']).toMatchObject({ data: [{ ...fault[0], line: 2 }] });
    expect(await explained(read, id)).toContain('\nLine 1: The line asks');
  });

  it('that has failed is explained by its first faults, and how many follow', async () => {
    const { url, read } = await lone(undefined, inFolder());
    const id = await batchOf(url, [lineOf('a'), '{', '{', '{', '{', '{']);
    await reached(url, id, 'failed');
    const text = await explained(read, id);
    expect(text.split('\n').map((line) => /^Line \d|^And \d|^Batch/.exec(line)?.[0])).toEqual([
      'Batch',
      'Line 2',
      'Line 3',
      'Line 4',
      'And 2',
    ]);
    expect(await read('/gateway')).toMatchObject({
      ended_batches: [{ id, status: 'failed', text: text.slice(text.indexOf('\n') + 1) }],
    });
  });

  it('tells lines that their conditions leave out apart from answered ones', async () => {
    const { url, read } = await lone(echo, inFolder());
    const id = await batchOf(url, [lineOf('a'), lineOf('b', '', { if: { $ref: 'a', contains: 'nowhere' } })]);
    const counts = { request_counts: { total: 2, completed: 2, failed: 0 }, left_out: 1 };
    expect(await reached(url, id, 'completed')).toMatchObject(counts);
    expect(await explained(read, id)).toBe(
      `Batch ${id} is completed: 1 of 2 lines answered, 1 left out by its condition, 0 failed.`,
    );
  });

  it('lets other calls go first: no line starts while one waits', async () => {
    const { opened, open } = gate();
    const order: string[] = [];
    const { url, chat, counted, read, waiting } = await lone(
      async (response, seen, request) => {
        order.push(seen.body.includes('batched') ? 'line' : 'call');
        if (order.length === 1) await opened;
        await echo(response, seen, request);
      },
      { ...ONE_AT_A_TIME, ...inFolder() },
    );
    const first = chat();
    await until(() => order.length === 1);
    const others = [chat(), chat()];
    await until(async () => (await waiting()) === 2);
    const id = await batchOf(url, [lineOf('a', 'batched'), lineOf('b', 'batched')]);
    await until(async () => (await shown(url, id))['status'] === 'in_progress');
    await until(async () => (await waiting()) === 4);
    expect(await read(`/programs/${id}/explain`)).toMatchObject({
      program: { tenant: 'default/batch', active: [{ state: 'waiting' }] },
    });
    expect(await explained(read, id)).toContain(`Batch ${id} of tenant default: 0 of 2 lines answered, 0 failed.\n`);
    const batches = [{ id, lines: { total: 2, completed: 0, failed: 0 }, in_flight: 2, late: false }];
    expect(await read('/gateway')).toMatchObject({ batches });
    expect(await counted('batches')).toBe(1);
    expect(await counted('batch_lines{state="in_flight"}')).toBe(2);
    open();
    await Promise.all([first, ...others]);
    await reached(url, id, 'completed');
    expect(order).toEqual(['call', 'call', 'call', 'line', 'line']);
    expect(await explained(read, id)).toBe(`Batch ${id} is completed: 2 of 2 lines answered, 0 failed.`);
  });

  it('that is cancelled takes its lines out of the queue', async () => {
    const { engine, open: answer, url, chat, waiting } = await held({ ...ONE_AT_A_TIME, ...inFolder() });
    const first = chat();
    await until(() => engine.seen.length === 1);
    const id = await batchOf(url, [lineOf('a'), lineOf('b')]);
    await until(async () => (await waiting()) === 2);
    await post(`${url}/v1/batches/${id}/cancel`, {});
    await until(async () => (await waiting()) === 0);
    expect((await reached(url, id, 'cancelled'))['request_counts']).toEqual({ total: 2, completed: 0, failed: 0 });
    answer();
    expect((await first).status).toBe(200);
    expect(engine.seen).toHaveLength(1);
  });

  it('asks a busy server again until it answers', async () => {
    let times = 0;
    const busyOnce: Answer = (...asked) => (times++ === 0 ? replies(503, {}) : completion())(...asked);
    const { url } = await lone(busyOnce, { ...inFolder(), timeouts: { busyMs: 0 } });
    const batch = await reached(url, await batchOf(url, [lineOf('a')]), 'completed');
    expect(batch['request_counts']).toEqual({ total: 1, completed: 1, failed: 0 });
  });
});
