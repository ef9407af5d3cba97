import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  BadItems,
  holds,
  itemsOf,
  MissingAnswer,
  outlinesOf,
  parseLine,
  planOf,
  sharedTokens,
  type BatchLine,
  type Outline,
  type Plan,
  type Problem,
} from '../../plans/index.js';

const URLS = new Set(['/v1/chat/completions', '/v1/embeddings']);

interface Given {
  readonly after?: readonly string[];
  readonly content?: unknown;
  readonly body?: object;
}

const line = (id: string, { after, content = 'hello', body = {} }: Given = {}): string =>
  JSON.stringify({
    custom_id: id,
    method: 'POST',
    url: '/v1/chat/completions',
    body: { model: 'm', messages: [{ role: 'user', content }], ...body },
    ...(after && { after }),
  });

const read = (text: string, number = 1) => parseLine(text, number, URLS);
const outlines = (...texts: string[]): Outline[] =>
  texts.flatMap((text, index) => outlinesOf(read(text, index + 1) as BatchLine, index + 1));

function plan(lines: readonly Outline[]): Plan | readonly Problem[] {
  const steps = planOf(lines);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

const planned = (...texts: string[]) => plan(outlines(...texts)) as Plan;
const problems = (...texts: string[]) => plan(outlines(...texts)) as readonly Problem[];

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
    [line('a').replace('"body":{', '"body":3,"x":{'), 'invalid_request', 'x'],
    [line('a', { body: { model: '' } }), 'invalid_request', 'body.model'],
    [line('a', { body: { model: undefined } }), 'invalid_request', 'body.model'],
    [line('a', { body: { stream: true } }), 'invalid_request', 'body.stream'],
    [line('a').replace(/}$/, ',"after":"b"}'), 'invalid_request', 'after'],
    [line('a').replace(/}$/, ',"after":[1]}'), 'invalid_request', 'after'],
    [line('a').replace('"hello"', `${'['.repeat(300)}${']'.repeat(300)}`), 'invalid_request', 'body'],
  ])('%s is refused by its number', (text, code, param) => {
    expect(read(text, 7)).toMatchObject({ code, param, line: 7 });
  });

  it('needs the lines of `after` and of its references, each once', () => {
    const content = [
      { $ref: 'b', path: 'choices.0.text' },
      { $ref: 'a', path: 'id' },
      { $ref: 'b', path: 'id' },
    ];
    expect(read(line('c', { after: ['a'], content }))).toMatchObject({ needs: ['a', 'b'] });
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

  it('with a circle names its lines, not those that only lead to it', () => {
    const lines = [line('a', { after: ['b'] }), line('b', { after: ['c'] }), line('c', { after: ['b'] }), line('d')];
    expect(problems(...lines)).toMatchObject([
      { code: 'circular_dependency', line: 2, message: expect.stringContaining('"b" needs "c" needs "b"') as string },
    ]);
    expect(problems(line('a', { after: ['a'] }))[0]?.message).toContain('"a" needs "a"');
  });

  it('has a program for each connected component, and the longest way from each line', () => {
    const body = { max_tokens: 100 };
    const { programs, critical, needs, dependents } = planned(
      line('a', { body }),
      line('alone', { body }),
      line('b', { body, after: ['a', 'c'] }),
      line('c', { body }),
    );
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

describe('a line with `each`', () => {
  const each = (id: string, of: unknown, more: object = {}) =>
    line(id, { content: '${item}' }).replace(/}$/, `,${JSON.stringify({ each: of, ...more }).slice(1)}`);

  it.each([7, null, { $ref: 1 }, { $ref: 'a', max: 0 }, { $ref: 'a', max: 10_001 }, { $ref: 'a', x: 1 }])(
    'of %j is refused by its number',
    (of) => {
      expect(read(each('b', of), 3)).toMatchObject({ code: 'invalid_request', param: 'each', line: 3 });
    },
  );

  it('has a place for every item it may have, which all that needs it waits for', () => {
    const lines = outlines(line('a'), each('b', { $ref: 'a', max: 3 }), line('c', { after: ['b'] }));
    expect(lines.map(({ item }) => item)).toEqual([-1, 0, 1, 2, -1]);
    const { needs, programs } = plan(lines) as Plan;
    expect(needs).toEqual([[], [0], [0], [0], [1, 2, 3]]);
    expect(new Set(programs).size).toBe(1);
  });

  it('counts its prompt once, and knows it up to the item', () => {
    const [first, second] = outlines(line('a').replace('"a"', '"item"'), each('b', 'item'));
    expect(second).toMatchObject({ needs: ['item'], item: 0 });
    expect(second!.promptTokens).toBeGreaterThan(0);
    expect(outlines(each('b', 'a'))[1]!.promptTokens).toBe(0);
    expect(first!.item).toBe(-1);
  });

  it('in a circle, of an unknown line, twice, or with too many needs is a problem', () => {
    expect(problems(each('a', 'b'), each('b', 'a'))).toMatchObject([{ code: 'circular_dependency', line: 1 }]);
    expect(problems(each('a', 'z'))[0]).toMatchObject({ code: 'unknown_custom_id', line: 1 });
    expect(problems(line('x'), each('a', 'x'), each('a', 'x'))).toMatchObject([
      { code: 'duplicate_custom_id', line: 3 },
    ]);
    const big = (id: string, of: string) => each(id, { $ref: of, max: 3000 });
    expect(problems(line('x'), big('a', 'x'), big('b', 'a'))).toMatchObject([{ code: 'too_many_needs', line: 3 }]);
  });
});

describe('a condition', () => {
  const when = (condition: unknown) => line('b').replace(/}$/, `,"if":${JSON.stringify(condition)}}`);

  it.each([
    [7],
    [[]],
    [{}],
    [{ $ref: 'a' }],
    [{ equals: 1 }],
    [{ $ref: 'a', equals: 1, contains: 'x' }],
    [{ $ref: 'a', equals: {} }],
    [{ $ref: 'a', contains: 1 }],
    [{ $ref: 'a', equals: 1, not: 'x' }],
    [{ $ref: 'a', equals: 1, constructor: 1 }],
  ])('%j is refused by its number', (condition) => {
    expect(read(when(condition), 3)).toMatchObject({ code: 'invalid_request', param: 'if', line: 3 });
  });

  it('needs its line, which must be there', () => {
    expect(problems(when({ $ref: 'a', equals: 1 }))).toMatchObject([{ code: 'unknown_custom_id', line: 1 }]);
    expect(planned(line('a'), when({ $ref: 'a', equals: null })).needs).toEqual([[], [0]]);
  });

  const answer = { n: 3, choices: [{ message: { content: ' Yes, sure\n' } }] };
  it.each([
    [{ equals: 'Yes, sure' }, true],
    [{ equals: 'Yes' }, false],
    [{ contains: 'sure' }, true],
    [{ contains: 'sure', not: true }, false],
    [{ path: 'n', equals: 3 }, true],
    [{ path: 'n', equals: '3' }, true],
    [{ path: 'n', equals: 4, not: true }, true],
  ])('%j is %s', (condition, is) => {
    expect(holds({ $ref: 'a', ...condition }, answer)).toBe(is);
  });
});

describe('items', () => {
  const of = (value: unknown, path?: string) =>
    itemsOf(value, { $ref: 'a', max: 4, ...(path !== undefined && { path }) });
  const text = (content: string) => ({ choices: [{ message: { content } }] });

  it.each([
    [text('[1, "b", {"c": 2}]'), [1, 'b', { c: 2 }]],
    [text('```json\n["a"]\n```'), ['a']],
    [text(' one\n\n two \n'), ['one', 'two']],
    [text(''), []],
    [null, []],
    [
      [text('x'), text('y')],
      [text('x'), text('y')],
    ],
  ])('of %j', (value, items) => {
    expect(of(value)).toEqual(items);
  });

  it('are found at a path, and have a bound', () => {
    expect(of({ data: [[1], [2]] }, 'data')).toEqual([[1], [2]]);
    expect(() => of({ data: [] }, 'x')).toThrow(MissingAnswer);
    for (const bad of [text('[1'), text('{"a": 1}'), text('[1,2,3,4,5]'), text('a\nb\nc\nd\ne')])
      expect(() => of(bad)).toThrow(BadItems);
    expect(() => of({ data: 7 }, 'data')).toThrow(BadItems);
  });
});

describe('the merge of equal lines', () => {
  const fixed = { temperature: 0 };
  const originals = (...texts: string[]) => [...planned(...texts).originals];

  it('is of deterministic lines alone', () => {
    const pairs = [
      [fixed, [0, 0]],
      [{ seed: 3 }, [0, 0]],
      [{}, [0, 1]],
      [{ temperature: 0.5 }, [0, 1]],
      [{ ...fixed, tools: [{}] }, [0, 1]],
    ] as const;
    for (const [body, expected] of pairs) expect(originals(line('a', { body }), line('b', { body }))).toEqual(expected);
    expect(originals(line('a', { body: fixed }), line('b', { body: { seed: 0 } }))).toEqual([0, 1]);
  });

  it('takes lines as equal whose needs are, and not by the names of these', () => {
    const next = (id: string, of: string, more = '') =>
      line(id, { body: fixed, after: [of], content: `${more}\${${of}}` });
    const [x, y, z] = [line('x', { body: fixed }), line('y', { body: fixed }), line('z', { body: { seed: 1 } })];
    expect(originals(next('a', 'x'), x, y, next('b', 'y'), z, next('c', 'z'))).toEqual([0, 1, 1, 0, 4, 5]);
    expect(originals(x, next('a', 'x'), next('b', 'x', ' '))).toEqual([0, 1, 2]);
  });

  it('never takes lines together that would ask other things, whatever they are', () => {
    const shape = fc.record({ content: fc.constantFrom('p', 'q'), of: fc.option(fc.nat(9)), seed: fc.nat(1) });
    fc.assert(
      fc.property(fc.array(shape, { minLength: 1, maxLength: 10 }), (shapes) => {
        const texts = shapes.map(({ content, of, seed }, index) => {
          const need = of !== null && of < index ? [`l${of}`] : [];
          return line(`l${index}`, {
            content: content + need.map((id) => `\${${id}}`).join(''),
            body: { seed },
            after: need,
          });
        });
        // What a line asks with all that it needs written out.
        const whole: string[] = shapes.map(() => '');
        for (const [index, { content, of, seed }] of shapes.entries())
          whole[index] = `${content}${seed}(${of !== null && of < index ? whole[of] : ''})`;
        const found = originals(...texts);
        expect(found.map((index) => whole[index])).toEqual(whole);
        expect(new Set(found).size).toBe(new Set(whole).size);
      }),
    );
  });

  it('and the order can be left out', () => {
    const lines = outlines(line('b', { body: fixed }), line('a'), line('c', { body: fixed }));
    const steps = planOf(lines, []);
    let step = steps.next();
    while (step.done !== true) step = steps.next();
    expect(step.value).toMatchObject({ originals: new Uint32Array([0, 1, 2]), order: new Uint32Array([0, 1, 2]) });
  });
});

describe('the order', () => {
  const A = 'a'.repeat(1024);
  const B = 'b'.repeat(1024);

  it('puts prompts with a common beginning side by side, the most critical branch first', () => {
    const [lines, long] = [[`${A}1`, `${B}1`, `${A}2`, `${B}2`], { max_tokens: 5000 }];
    const { order } = planned(
      ...lines.map((content, index) => line(`l${index}`, { content, body: index === 3 ? long : {} })),
    );
    expect([...order].map((index) => lines[index]![0])).toEqual(['b', 'b', 'a', 'a']);
    expect(order[0]).toBe(3);
  });

  it('compares a template only up to the first answer that it waits for', () => {
    const lines = outlines(
      line('x'),
      line('a', { after: ['x'], content: `${A}\${x}${B}` }),
      line('b', { content: `${A}\${x}${B}` }),
    );
    expect(lines[1]!.blocks.length).toBe(lines[2]!.blocks.length - 4);
    expect(sharedTokens(lines, [1, 2])).toBe(64 * lines[1]!.blocks.length);
  });

  const BLOCKS = fc.array(fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 5 }), { minLength: 1, maxLength: 40 });
  const given = (paths: readonly (readonly number[])[], outputs: readonly number[] = []): Outline[] =>
    paths.map((path, index) => {
      const keys = path.map((_, depth) => Number(path.slice(0, depth + 1).join('')));
      return {
        customId: `${index}`,
        line: index,
        needs: [],
        item: -1,
        request: undefined,
        blocks: Float64Array.from(keys),
        promptTokens: 0,
        outputTokens: outputs[index] ?? 1,
      };
    });

  it('keeps the lines of every beginning together, whatever the prompts', () => {
    fc.assert(
      fc.property(BLOCKS, (paths) => {
        const order = [...(plan(given(paths)) as Plan).order];
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
        const { order } = plan(lines) as Plan;
        const shuffled = [...paths.keys()].sort((a, b) => dice[a]! - dice[b]!);
        expect(sharedTokens(lines, order)).toBeGreaterThanOrEqual(sharedTokens(lines, shuffled));
        expect(lines[order[0]!]!.outputTokens).toBe(Math.max(...lines.map(({ outputTokens }) => outputTokens)));
      }),
    );
  });
});
