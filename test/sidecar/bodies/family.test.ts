import { describe, expect, it } from 'vitest';
import { familyOf, readOpening } from '../../../sidecar/bodies/family.js';
import { TokenEstimator } from '../../../sidecar/bodies/tokens.js';

const SYSTEM = 'You fix bugs in this repository. '.repeat(100);
const TOOLS = [{ type: 'function', function: { name: 'bash', parameters: { type: 'object' } } }];
const LONG = 'Once upon a time. '.repeat(1_000);

const of = (body: object, model = 'm') => familyOf(model, readOpening(model, body as never), new TokenEstimator());
const user = (content: string) => ({ role: 'user', content });
const chat = (system: string, tools: object[] = TOOLS) =>
  of({ messages: [{ role: 'system', content: system }, user('a')], tools })!;

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

describe('what changes from run to run', () => {
  it.each([
    ['an ISO time', '2026-11-25T12:20:47.123Z', '2027-01-02T03:04:05.006Z'],
    ['a date in words', 'Wednesday, November 25, 2026, 9:05 PM', 'Friday, May 1, 2026, 10:15 AM'],
    ['a date as of Unix', 'Wed Nov 25 12:20:47 UTC 2026', 'Sun Jan 3 01:02:03 UTC 2027'],
    ['a UUID', 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6', '0dead00d-beef-cafe-babe-feedfacedad0'],
    ['a hash', '9f86d081884c7d65', 'deadbeefcafe0123'],
    ['a temporary folder', '/var/cache/run-x7Gh2k', '/var/cache/run-9aPq4z'],
    ['a number', '1', '123456.75'],
  ])('is no part of a family: %s', (_what, one, other) => {
    expect(chat(`${SYSTEM} Now: ${one}. Begin.`).id).toBe(chat(`${SYSTEM} Now: ${other}. Begin.`).id);
  });

  it('leaves agents apart that differ by a name, early or late, or by a tool', () => {
    const names = ['Marketing', 'Monitor', 'Planner', 'Mayor', 'Sunny', 'Augusta', 'Decider', 'am', 'may'];
    const ids = names.flatMap((name) => [
      chat(`You are the ${name}. ${SYSTEM}`).id,
      chat(`${SYSTEM} You are the ${name}.`).id,
    ]);
    const tools = [{ type: 'function', function: { name: 'bash', parameters: { type: 'string' } } }];
    expect(new Set([...ids, chat(SYSTEM).id, chat(SYSTEM, tools).id]).size).toBe(2 * names.length + 2);
  });

  it('takes time in proportion to the text, whatever it is', () => {
    const seconds = (text: string): number => {
      const startedAt = process.cpuUsage();
      chat(text);
      const { user, system } = process.cpuUsage(startedAt);
      return (user + system) / 1e6;
    };
    for (const text of ['a', 'a-', '1', '1 ', 'a1 ', '-', 'Mon'])
      expect(seconds(text.repeat(1_000_000 / text.length)), text).toBeLessThan(2);
  });
});

describe('a harness', () => {
  it('is told by the names of tools and the first words', () => {
    const { harness, id } = chat(`${SYSTEM} You work in /srv/ann/shop.`);
    const other = chat(`${SYSTEM} You work in /srv/bob/bank.`);
    expect(other.id).not.toBe(id);
    expect(other.harness).toBe(harness);
    expect(chat(`Today is May 3. ${SYSTEM}`).harness).toBe(chat(`Today is June 14. ${SYSTEM}`).harness);
    expect(chat(`Plan. ${SYSTEM}`).harness).not.toBe(harness);
    expect(chat(SYSTEM, [{ type: 'function', function: { name: 'edit' } }]).harness).not.toBe(harness);
  });

  it('reads the names of tools in each API', () => {
    const of2 = (body: object) => of(body)!.harness;
    const tools = (name: string) => [{ type: 'function', name, parameters: {} }];
    const responses = (name: string) => of2({ instructions: SYSTEM, input: [user('a')], tools: tools(name) });
    const messages = (name: string) =>
      of2({ system: SYSTEM, messages: [user('a')], tools: [{ name, input_schema: {} }] });
    const functions = (name: string) => of2({ messages: [user('a')], functions: [{ name }] });
    for (const named of [responses, messages, functions]) {
      expect(named('bash')).toBe(named('bash'));
      expect(named('bash')).not.toBe(named('edit'));
    }
    expect(of2({ messages: [user('a')], tools: [null, 3, 'x', { type: 'web_search' }] })).toBeTypeOf('number');
  });
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
