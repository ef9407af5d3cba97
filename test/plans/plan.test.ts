import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sharedTokens, type Outline, type Problem } from '../../plans/index.js';
import { parseLine } from '../../sidecar/batches/lines.js';
import { asking, line, outlines, plan, planned, problems, problemsIn, read } from './lines.js';

describe('a line', () => {
  it.each([
    ['{', 'invalid_json_line', null],
    ['', 'invalid_json_line', null],
    ['[1]', 'invalid_json_line', null],
    [line(''), 'invalid_request', 'custom_id'],
    [line('x'.repeat(513)), 'invalid_request', 'custom_id'],
    [line('a').replace('"custom_id":"a"', '"custom_id":7'), 'invalid_request', 'custom_id'],
    [line('a').replace('POST', 'GET'), 'invalid_request', 'method'],
    [line('a').replace('/v1/chat/completions', '/v1/files'), 'invalid_request', 'url'],
    [line('a').replace('"body":{', '"body":3,"x":{'), 'invalid_request', 'body'],
    [line('a', { body: { model: '' } }), 'invalid_request', 'body.model'],
    [line('a', { body: { model: undefined } }), 'invalid_request', 'body.model'],
    [line('a', { body: { stream: true } }), 'invalid_request', 'body.stream'],
    [line('a', { body: { max_tokens: -4 } }), 'invalid_request', 'body.max_tokens'],
    [line('a', { body: { max_tokens: 0 } }), 'invalid_request', 'body.max_tokens'],
    [line('a', { body: { max_completion_tokens: 'x' } }), 'invalid_request', 'body.max_completion_tokens'],
    [asking('/v1/responses', { input: 'x', max_output_tokens: 1.5 }), 'invalid_request', 'body.max_output_tokens'],
    [asking('/v1/chat/completions', {}), 'invalid_request', 'body.messages'],
    [asking('/v1/chat/completions', { messages: 'hello' }), 'invalid_request', 'body.messages'],
    [asking('/v1/chat/completions', { messages: [] }), 'invalid_request', 'body.messages'],
    [asking('/v1/messages', { messages: [{ content: 'x' }] }), 'invalid_request', 'body.messages[0].role'],
    [asking('/v1/completions', { prompt: 7 }), 'invalid_request', 'body.prompt'],
    [asking('/v1/responses', {}), 'invalid_request', 'body.input'],
    [asking('/v1/embeddings', { input: {} }), 'invalid_request', 'body.input'],
    [line('a').replace(/}$/, ',"after":"b"}'), 'invalid_request', 'after'],
    [line('a').replace(/}$/, ',"after":[1]}'), 'invalid_request', 'after[0]'],
    [line('a').replace('"hello"', '{"n":[-1e999]}'), 'invalid_request', 'body'],
    [line('a', { body: { max_tokens: 0 } }).replace(':0', ':1e999'), 'invalid_request', 'body'],
    [line('a').replace(/}$/, ',"if":{"$ref":"b","equals":1e999}}'), 'invalid_request', 'if.equals'],
    [line('a').replace('"hello"', `${'['.repeat(300)}${']'.repeat(300)}`), 'invalid_request', 'body'],
  ])('%s is refused by its number', (text, code, param) => {
    expect(read(text, 7)).toMatchObject({ code, param, line: 7 });
  });

  it('may limit its answer, even to no token in completions, to score a prompt', () => {
    const limited = [20, -1, null, { $ref: 'b', path: 'n' }].map((limit) => line('a', { body: { max_tokens: limit } }));
    const scored = asking('/v1/completions', { prompt: 'x', max_tokens: 0 });
    for (const text of [...limited, scored]) expect(read(text)).toMatchObject({ customId: 'a' });
  });

  it('has all faults of its body told, but none of what other lines will give', () => {
    const faulty = { messages: [{ content: { $ref: 'b', path: 'x' } }], max_tokens: 0, stream: true, n: 'x' };
    const found = parseLine(Buffer.from(asking('/v1/chat/completions', faulty)), 1);
    const params = ['body.stream', 'body.messages[0].role', 'body.max_tokens', 'body.n'];
    expect((found as readonly Problem[]).map(({ param }) => param)).toEqual(params);
    const given = { $ref: 'b', path: 'x' };
    for (const messages of [given, [given], [{ role: 'user', content: given }], [{ role: given }]])
      expect(read(asking('/v1/chat/completions', { messages }))).toMatchObject({ needs: ['b'] });
    for (const prompt of [given, [given, 'x']])
      expect(read(asking('/v1/completions', { prompt }))).toMatchObject({ needs: ['b'] });
  });

  it('with a mistyped key or path says which was meant', () => {
    const key = read(line('a').replace(/}$/, ',"aftr":["b"]}'));
    expect(key).toMatchObject({ param: 'aftr', message: "'aftr' is not a known key; did you mean after?" });
    const told = expect.stringMatching(/did you mean \/v1\/chat\/completions\?$/) as string;
    expect(read(line('a').replace('completions', 'completion'))).toMatchObject({ message: told });
  });

  it('needs the lines of `after` and of its references, each once', () => {
    const content = ['b', 'a', 'b'].map(($ref) => ({ $ref, path: 'id' }));
    expect(read(line('c', { after: ['a'], content }))).toMatchObject({ needs: ['a', 'b'] });
  });

  it('may need and mention thousands of others', () => {
    const after = Array.from({ length: 60_000 }, (_, index) => `a${10_000 + index}`);
    const content = '${a69999}'.repeat(60_000);
    const [outline] = outlines(line('c', { after, content, body: { temperature: 0 } }));
    expect(outline?.needs).toHaveLength(60_000);
  });

  it('keeps the `$ref` of a JSON schema, and `${...}` that names no line of `after`', () => {
    const body = { response_format: { schema: { $ref: '#/$defs/a' } } };
    expect(read(line('c', { content: 'echo ${HOME}', body }))).toMatchObject({ needs: [] });
  });
});

describe('a graph', () => {
  it('with one custom_id twice names both lines', () => {
    expect(problems(line('a'), line('b'), line('a'))).toMatchObject([{ code: 'duplicate_custom_id', line: 3 }]);
    expect(problems(line('a'), line('a'))[0]?.message).toContain('line 1');
  });

  it('with unknown names says where', () => {
    expect(problems(line('a'), line('b', { after: ['z', 'a'] }))).toMatchObject([
      { code: 'unknown_custom_id', line: 2, message: 'The line needs "z", which is no custom_id of this file.' },
    ]);
  });

  it('with too many needs says which line is one too many', () => {
    const ids = Array.from({ length: 2300 }, (_, index) => `${index}`);
    const all = ids.map((customId, index) => ({ ...outlines(line(customId))[0]!, line: index + 1, needs: ids }));
    expect(problemsIn(all)).toMatchObject([{ code: 'too_many_needs', line: 2174 }]);
  });

  it('with a circle names its lines, not those that only lead to it', () => {
    const lines = [line('a', { after: ['b'] }), line('b', { after: ['c'] }), line('c', { after: ['b'] }), line('d')];
    const message = expect.stringContaining('"b" needs "c" needs "b"') as string;
    expect(problems(...lines)).toMatchObject([{ code: 'circular_dependency', line: 2, message }]);
    expect(problems(line('a', { after: ['a'] }))[0]?.message).toContain('"a" needs "a"');
  });

  it('has a program for each connected component, and the longest way from each line', () => {
    const body = { max_tokens: 100 };
    const [a, alone, c] = ['a', 'alone', 'c'].map((id) => line(id, { body })) as [string, string, string];
    const { programs, critical, needs, dependents } = planned(a, alone, line('b', { body, after: ['a', 'c'] }), c);
    expect([...programs]).toEqual([0, 1, 0, 0]);
    expect(needs[2]).toEqual([0, 3]);
    expect([dependents[0], dependents[3], dependents[1]]).toEqual([[2], [2], []]);
    expect(critical[0]).toBeGreaterThan(200);
    expect(critical[1]).toBeLessThan(200);
  });

  it('is right for any graph: needs before dependents, components as reachable', () => {
    const edges = fc.array(fc.tuple(fc.nat(19), fc.nat(19)), { maxLength: 30 });
    fc.assert(
      fc.property(edges, (given) => {
        const after = (index: number) =>
          given.filter(([a, b]) => Math.max(a, b) === index && a !== b).map(([a, b]) => `l${Math.min(a, b)}`);
        const lines = Array.from({ length: 20 }, (_, index) => line(`l${index}`, { after: after(index) }));
        const { needs, programs, critical } = planned(...lines);
        for (const [index, own] of needs.entries())
          for (const need of own) {
            expect(programs[need]).toBe(programs[index]);
            expect(critical[need]).toBeGreaterThan(critical[index]!);
          }
        const reached = new Set([0]);
        for (let i = 0; i < 20; i++)
          for (const [index, own] of needs.entries())
            for (const need of own) if (reached.has(need) || reached.has(index)) reached.add(need).add(index);
        expect([...programs].map((program) => program === programs[0])).toEqual(
          [...programs.keys()].map((index) => reached.has(index)),
        );
      }),
    );
  });
});

describe('the order', () => {
  const A = 'a'.repeat(1024);
  const B = 'b'.repeat(1024);

  it('compares a template only up to the first answer that it waits for', () => {
    const content = `${A}\${x}${B}`;
    const lines = outlines(line('x'), line('a', { after: ['x'], content }), line('b', { content }));
    expect(lines[1]!.blocks.length).toBe(lines[2]!.blocks.length - 4);
    expect(sharedTokens(lines, [1, 2])).toBe(64 * lines[1]!.blocks.length);
  });

  const BLOCKS = fc.array(fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 5 }), { minLength: 1, maxLength: 40 });
  const given = (paths: readonly (readonly number[])[], outputs: readonly number[] = []): Outline[] =>
    paths.map((path, index) => ({
      ...outlines(line(`${index}`))[0]!,
      blocks: Float64Array.from(path.map((_, depth) => Number(path.slice(0, depth + 1).join('')))),
      promptTokens: 0,
      outputTokens: outputs[index] ?? 1,
    }));

  it('keeps the lines of every beginning together, whatever the prompts', () => {
    fc.assert(
      fc.property(BLOCKS, (paths) => {
        const order = [...plan(given(paths)).order];
        expect(order.toSorted((a, b) => a - b)).toEqual([...paths.keys()]);
        for (const path of paths)
          for (let depth = 1; depth <= path.length; depth++) {
            const at = order.flatMap((index, place) =>
              paths[index]!.slice(0, depth).join() === path.slice(0, depth).join() ? [place] : [],
            );
            expect(at.at(-1)! - at[0]!).toBe(at.length - 1);
          }
      }),
    );
  });

  it('shares more than any other order, and begins with the most critical line where no prompt is part of another', () => {
    const others = fc.array(fc.nat(1000), { minLength: 40, maxLength: 40 });
    fc.assert(
      fc.property(BLOCKS, others, (paths, dice) => {
        const lines = given(
          paths.map((path, index) => [...path, 4 + (index % 2)]),
          dice,
        );
        const { order } = plan(lines);
        const shuffled = [...paths.keys()].sort((a, b) => dice[a]! - dice[b]!);
        expect(sharedTokens(lines, order)).toBeGreaterThanOrEqual(sharedTokens(lines, shuffled));
        expect(lines[order[0]!]!.outputTokens).toBe(Math.max(...lines.map(({ outputTokens }) => outputTokens)));
      }),
    );
  });
});
