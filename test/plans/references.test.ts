import { describe, expect, it } from 'vitest';
import { fill, textOf } from '../../plans/index.js';

const ANSWERS: Readonly<Record<string, unknown>> = {
  chat: { id: 'c', choices: [{ message: { content: 'a $& cat' } }] },
  data: { data: [{ embedding: [1, 2] }] },
};
const filled = (value: unknown, ...after: string[]) => fill(value, new Set(after), (id) => ANSWERS[id]);

describe('references', () => {
  it('become the values at their paths, of any type', () => {
    const body = { input: [{ $ref: 'data', path: 'data.0.embedding' }, { x: { $ref: 'chat', path: 'id' } }] };
    expect(filled(body)).toEqual({ input: [[1, 2], { x: 'c' }] });
  });

  it('inside texts become texts, as they are', () => {
    expect(filled({ a: ['<${chat}> ${chat} ${HOME} ${data}'] }, 'chat')).toEqual({
      a: ['<a $& cat> a $& cat ${HOME} ${data}'],
    });
    expect(filled('${chat}')).toBe('${chat}');
  });

  it('leave everything else as it is', () => {
    const body = JSON.parse(
      '{"a":null,"b":[1,true],"__proto__":{"$ref":"#/x"},"c":{"$ref":"chat","path":1}}',
    ) as object;
    expect(JSON.stringify(filled(body, 'chat'))).toBe(JSON.stringify(body));
  });

  const nothing = ['choices.1', 'choices.0.message.content.length', 'constructor', 'choices.length.x', ''];
  it.each(nothing)('to nothing, as at "%s", are refused', (path) => {
    expect(() => filled({ $ref: 'chat', path })).toThrow(expect.objectContaining({ code: 'missing_answer' }) as Error);
  });

  it.each([
    { content: '${long}'.repeat(70) },
    { content: Array.from({ length: 70 }, () => ({ $ref: 'long', path: 'id' })) },
  ])('take 67 million characters at most', (body) => {
    const long = { id: 'x'.repeat(1_000_000), choices: [{ text: 'x'.repeat(1_000_000) }] };
    expect(() => fill(body, new Set(['long']), () => long)).toThrow(
      expect.objectContaining({ code: 'answers_too_long' }) as Error,
    );
  });

  it.each([
    [{ choices: [{ message: { content: 'x' } }] }, 'x'],
    [{ choices: [{ text: 'x' }] }, 'x'],
    [{ content: [{ type: 'text', text: 'x' }] }, 'x'],
    [{ output: [{ type: 'reasoning' }, null, { content: [{ text: 'x' }, null, { text: 'y' }] }] }, 'xy'],
    [{ data: [] }, '{"data":[]}'],
    [{ choices: [{ message: { content: null } }] }, '{"choices":[{"message":{"content":null}}]}'],
    ['plain', 'plain'],
    [null, ''],
    [undefined, ''],
    [[{ choices: [{ text: 'x' }] }, { choices: [{ text: 'y' }] }], 'x\n\ny'],
  ])('find the text of an answer: %j', (answer, text) => {
    expect(textOf(answer)).toBe(text);
  });
});
