import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { holds, itemsOf } from '../../plans/index.js';
import { line, outlines, plan, planned, problems, read } from './lines.js';

describe('a line with `each`', () => {
  const each = (id: string, of: unknown, more: object = {}) =>
    line(id, { content: '${item}' }).replace(/}$/, `,${JSON.stringify({ each: of, ...more }).slice(1)}`);

  const wrong = [7, null, { $ref: 1 }, { $ref: 'a', max: 0 }, { $ref: 'a', max: 10_001 }, { $ref: 'a', x: 1 }];
  it.each(wrong)('of %j is refused by its number', (of) => {
    const param = expect.stringMatching(/^each/) as string;
    expect(read(each('b', of), 3)).toMatchObject({ code: 'invalid_request', param, line: 3 });
  });

  it('has one place in the plan, and knows its prompt up to the item', () => {
    const lines = outlines(
      line('a').replace('"a"', '"item"'),
      each('b', { $ref: 'item', max: 3 }),
      line('c', { after: ['b'] }),
    );
    const { needs, programs } = plan(lines);
    expect(needs).toEqual([[], [0], [1]]);
    expect(new Set(programs).size).toBe(1);
    expect(lines[1]!.promptTokens).toBeGreaterThan(0);
  });

  it('in a circle, of an unknown line, or twice is a problem', () => {
    expect(problems(each('a', 'b'), each('b', 'a'))).toMatchObject([{ code: 'circular_dependency', line: 1 }]);
    expect(problems(each('a', 'z'))[0]).toMatchObject({ code: 'unknown_custom_id', line: 1 });
    const twice = [{ code: 'duplicate_custom_id', line: 3 }];
    expect(problems(line('x'), each('a', 'x'), each('a', 'x'))).toMatchObject(twice);
  });
});

describe('a condition', () => {
  const when = (condition: unknown) => line('b').replace(/}$/, `,"if":${JSON.stringify(condition)}}`);

  const ref = { $ref: 'a' };
  const faulty = [
    { ...ref, equals: 1, contains: 'x' },
    { ...ref, equals: {} },
    { ...ref, contains: 1 },
  ];
  const odd = [
    { ...ref, equals: 1, not: 'x' },
    { ...ref, equals: 1, constructor: 1 },
  ];
  it.each([7, [[]], {}, ref, { equals: 1 }, ...faulty, ...odd])('%j is refused by its number', (condition: unknown) => {
    const param = expect.stringMatching(/^if/) as string;
    expect(read(when(condition), 3)).toMatchObject({ code: 'invalid_request', param, line: 3 });
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
    expect(() => of({ data: [] }, 'x')).toThrow(expect.objectContaining({ code: 'missing_answer' }) as Error);
    for (const bad of [text('[1'), text('{"a": 1}'), text('[1,2,3,4,5]'), text('a\nb\nc\nd\ne')])
      expect(() => of(bad)).toThrow(expect.objectContaining({ code: 'bad_items' }) as Error);
    expect(() => of({ data: 7 }, 'data')).toThrow(expect.objectContaining({ code: 'bad_items' }) as Error);
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
          const after = of !== null && of < index ? [`l${of}`] : [];
          const asked = content + after.map((id) => `\${${id}}`).join('');
          return line(`l${index}`, { content: asked, body: { seed }, after });
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
    expect(plan(lines, [])).toMatchObject({ originals: new Uint32Array([0, 1, 2]), order: new Uint32Array([0, 1, 2]) });
  });
});
