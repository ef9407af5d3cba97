import { describe, expect, it } from 'vitest';
import { familyOf, readOpening } from '../../../sidecar/bodies/family.js';
import { TokenEstimator } from '../../../sidecar/bodies/tokens.js';

const SYSTEM = 'You fix bugs in this repository. '.repeat(100);
const TOOLS = [{ type: 'function', function: { name: 'bash', parameters: { type: 'object' } } }];
const LONG = 'Once upon a time. '.repeat(1_000);

const of = (body: object, model = 'm') => familyOf(model, readOpening(model, body as never), new TokenEstimator());
const user = (content: string) => ({ role: 'user', content });

/** Requests in each API, of two programs of one family and of another family. */
const APIS: Record<string, (system: string, words: string) => object> = {
  chat: (system, words) => ({ messages: [{ role: 'system', content: system }, user(words)], tools: TOOLS }),
  'chat, as developer': (system, words) => ({ messages: [{ role: 'developer', content: system }, user(words)] }),
  messages: (system, words) => ({ system: [{ type: 'text', text: system }], messages: [user(words)], tools: TOOLS }),
  responses: (system, words) => ({ instructions: system, input: [user(words)], tools: TOOLS }),
  completions: (system, words) => ({ prompt: system + LONG + words }),
};

describe.each(Object.entries(APIS))('%s', (_name, body) => {
  it('is told by how prompts begin, not by what is asked', () => {
    const one = of(body(SYSTEM, 'a'));
    expect(one).toBeDefined();
    expect(of(body(SYSTEM, 'b, and at more length'))).toEqual(one);
    expect(of(body(`Not that. ${SYSTEM}`, 'a'))!.id).not.toBe(one!.id);
    expect(of(body(SYSTEM, 'a'), 'another model')!.id).not.toBe(one!.id);
    expect(Number.isSafeInteger(one!.id)).toBe(true);
  });

  it('is no longer than that beginning', () => {
    const { tokens } = of(body(SYSTEM, LONG))!;
    expect(tokens).toBeGreaterThan(500);
    expect(tokens).toBeLessThanOrEqual(2_048);
  });
});

it('is unknown where a prompt has nothing of its application’s own, or too little to tell', () => {
  expect(of({ messages: [user('hello')] })).toBeUndefined();
  expect(of({ prompt: 'hello' })).toBeUndefined();
  expect(of({ prompt: [LONG, LONG] })).toBeUndefined();
  expect(of({ input: 'hello' })).toBeUndefined();
});

it('reads prompts of token ids as well', () => {
  const ids = Array.from({ length: 3_000 }, (_, n) => n % 700);
  expect(of({ prompt: [...ids, 1] })).toEqual(of({ prompt: [...ids, 2] }));
  expect(of({ prompt: ids.slice(0, 100) })).toBeUndefined();
});

describe('the estimate of prompts', () => {
  it('is not spoilt by one request padded with fields that its engine ignores', () => {
    const estimator = new TokenEstimator();
    for (let i = 0; i < 60; i++) estimator.learn('m', 8000, 2000);
    const before = estimator.estimate('m', 8000);
    estimator.learn('m', 30_000_000, 7);
    estimator.learn('m', 7, 1_000_000);
    expect(estimator.estimate('m', 8000) / before).toBeGreaterThan(0.9);
    expect(estimator.estimate('m', 8000) / before).toBeLessThan(1.2);
  });
});
