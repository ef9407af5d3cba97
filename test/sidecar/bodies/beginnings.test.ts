import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { tenantId } from '../../../src/index.js';
import type { Api, JsonObject } from '../../../sidecar/apis/index.js';
import { readBodyOf, type ReadBody } from '../../../sidecar/bodies/read.js';
import { BodyReader } from '../../../sidecar/bodies/reader.js';
import { fingerprintOf } from '../../../sidecar/identity/returning.js';
import { chat as CHAT, messages as MESSAGES, responses as RESPONSES } from '../apis/api.js';
import { configOf } from '../gateway/world.js';

const ours = tenantId('ours');
const MB = 1_048_576;

/** Reads what is read at once. The thread's share is not wanted, so that none starts. */
const readerOf = (more: object = {}, beginningBytes = MB) => {
  const config = configOf([], { limits: { inlineBytes: MB, ...more } });
  const reader = new BodyReader(() => config, beginningBytes);
  return (api: Api, text: string, tenant = ours): ReadBody | undefined => {
    const read = reader.read(tenant, api, '', Buffer.from(text), () => false);
    if (!(read instanceof Promise)) return read;
    void read.catch(() => undefined);
    return undefined;
  };
};

/** All that is read, without what reading it cost. */
const told = ({ raw, body, keys, facts, opening }: ReadBody, { list = '' }: Api) => ({
  raw: raw.toString(),
  body: { ...body, [list]: undefined },
  keys: [...keys],
  facts: { ...facts, conversation: facts.conversation().map((turn) => ({ role: turn.role, said: turn.read() })) },
  opening,
});

const outcome = (read: () => ReadBody | undefined, api: Api): unknown => {
  try {
    const got = read();
    return got && told(got, api);
  } catch (error) {
    return { error };
  }
};

const text = fc.oneof(
  fc.constantFrom('', '"', '\\', '{"messages":[', ']}', 'é“”', '</think>x', '\n'),
  fc.nat(9000).map((length) => 'word '.repeat(length / 5)),
);
const call = (id: number) => ({
  id: `call_${id}`,
  type: 'function',
  function: { name: 'bash', arguments: '{"b":1,"a":"]"}' },
});
const message: fc.Arbitrary<JsonObject> = fc.oneof(
  text.map((content) => ({ role: 'user', content })),
  text.map((content) => ({ role: 'system', content })),
  fc.tuple(text, fc.nat(99)).map(([content, id]) => ({ role: 'assistant', content, tool_calls: [call(id)] })),
  text.map((content) => ({ role: 'tool', tool_call_id: 'x', content: [{ type: 'text', text: content }] })),
);
const item: fc.Arbitrary<JsonObject> = fc.oneof(
  text.map((content) => ({ role: 'user', content })),
  text.map((content) => ({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: content }] })),
  fc.nat(9).map((id) => ({ type: 'function_call', call_id: `c${id}`, name: 'ls', arguments: '{}' })),
  text.map((output) => ({ type: 'function_call_output', call_id: 'c1', output })),
  fc.constant({ type: 'reasoning', summary: [] }),
);
const bodyOf = (field: string, items: readonly unknown[], isFirst: boolean, space: number): string => {
  const rest = { model: 'm', max_tokens: 9, tools: [{ name: 'bash' }], instructions: 'be brief' };
  const list = { [field]: items };
  return JSON.stringify(isFirst ? { ...list, ...rest } : { ...rest, ...list }, null, space);
};

/** Changes to the text of a body, most of which break it. */
const LISTS = [',"messages":[{"role":"user","content":"other"}]', ',"mess\\u0061ges":[]'];
const piece = fc.constantFrom(',', ']', '}', '"', ' ', '\u0000', ',{}', ',5', ...LISTS);
const damage = fc.oneof(
  fc.constant((body: string) => body),
  fc.tuple(piece, fc.nat(60)).map(([inserted, back]) => (body: string) => {
    const at = Math.max(0, body.length - back);
    return body.slice(0, at) + inserted + body.slice(at);
  }),
  fc.nat(1).map((share) => (body: string) => {
    const at = Math.floor(share * (body.length - 1));
    return body.slice(0, at) + body.slice(at + 1);
  }),
);

describe('a body that begins like an earlier one', () => {
  it.each([
    ['chat', CHAT, message],
    ['messages', MESSAGES, message],
    ['responses', RESPONSES, item],
  ] as const)('is read as if it were the first: %s', (_, api, items) => {
    const field = api.list ?? '';
    fc.assert(
      fc.property(
        fc.array(items, { minLength: 8, maxLength: 30 }),
        fc.array(fc.tuple(fc.array(items, { maxLength: 3 }), damage), { minLength: 1, maxLength: 5 }),
        fc.boolean(),
        fc.constantFrom(0, 1),
        (first, steps, isFirst, space) => {
          const read = readerOf();
          const list = [...first];
          for (const [more, broken] of [[[], (body: string) => body] as const, ...steps]) {
            list.push(...more);
            const body = broken(bodyOf(field, list, isFirst, space));
            const fresh = outcome(() => readBodyOf(api, Buffer.from(body)), api);
            expect(outcome(() => read(api, body), api)).toEqual(fresh);
          }
        },
      ),
      { numRuns: 150, seed: 5 },
    );
  });

  const long = (turns: number, first = 'begin'): JsonObject[] => [
    { role: 'user', content: first },
    ...Array.from({ length: turns }, (_, i) => ({
      role: i % 2 === 0 ? 'assistant' : 'user',
      content: `${i} ${`${first} `.repeat(200)}`,
    })),
  ];
  const chatOf = (turns: number, first?: string) => bodyOf('messages', long(turns, first), false, 0);

  it('is read at once, however long it is, if little in it is new; by the thread otherwise', () => {
    const read = readerOf({ inlineBytes: 100_000 });
    // Grows from below the limit, then beyond it.
    for (let turns = 60; turns < 400; turns += 4) expect(read(CHAT, chatOf(turns))).toBeDefined();
    for (const other of [chatOf(396, 'other'), chatOf(396).replace('be brief', 'be quick')])
      expect(read(CHAT, other)).toBeUndefined();
    expect(read(CHAT, chatOf(396), tenantId('theirs'))).toBeUndefined();
    const forgetful = readerOf({ inlineBytes: 100_000 }, 0);
    expect([60, 120].map((turns) => forgetful(CHAT, chatOf(turns)) === undefined)).toEqual([false, true]);
  });

  it('is found before whatever follows the conversation', () => {
    const read = readerOf({ inlineBytes: 150_000 });
    const tools = 'tool '.repeat(20_000);
    for (let turns = 20; turns < 400; turns += 4)
      expect(read(CHAT, JSON.stringify({ model: 'm', messages: long(turns), tools }))).toBeDefined();
  });

  it('is bound by the same limits in all', () => {
    const read = readerOf({ bodyNodesMax: 1000, bodyDepthMax: 16 });
    const tooComplex = expect.objectContaining({ code: 'body_too_complex' }) as Error;
    expect(read(CHAT, chatOf(300))?.facts.conversation()).toHaveLength(301);
    expect(() => read(CHAT, chatOf(340))).toThrow(tooComplex);
    const deep = `${'['.repeat(20)}${']'.repeat(20)}`;
    expect(() => read(CHAT, chatOf(302).replace(/}$/, `,"x":${deep}}`))).toThrow(tooComplex);
  });

  it('has the same fingerprint, whichever way it was read', () => {
    const read = readerOf();
    const prints = [40, 44, 44].map((turns) => fingerprintOf(read(CHAT, chatOf(turns))!));
    expect(prints).toEqual([40, 44, 44].map((turns) => fingerprintOf(readerOf()(CHAT, chatOf(turns))!)));
    expect(new Set(prints).size).toBe(2);
  });

  it('is forgotten where others take its room', () => {
    const read = readerOf({ inlineBytes: 120_000 }, 40_000);
    for (const turns of [60, 80, 100, 120]) expect(read(CHAT, chatOf(turns, 'mine'))).toBeDefined();
    for (let other = 0; other < 20; other++) read(CHAT, chatOf(80, `other${other}`.slice(-4)));
    expect(read(CHAT, chatOf(124, 'mine'))).toBeUndefined();
  });
});
