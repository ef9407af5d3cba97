import { describe, expect } from 'vitest';
import type * as Gateways from '../../../sidecar/index.js';
import type * as Readers from '../../../sidecar/bodies/reader.js';
import { tenantId } from '../../../src/index.js';
import { chat as chatApi } from '../../../sidecar/apis/chat.js';
import { ROOT } from '../../support/tree.js';
import {
  JSON_TYPE,
  MODEL,
  bearer,
  chatBody,
  cleanUp,
  completion,
  configOf,
  errorCode,
  fakeEngine,
  keysOf,
  refusal,
  replies,
  until,
  world,
  type Answer,
  lone,
  held,
  it,
} from './world.js';

/** The built gateway, because its thread cannot run the sources. */
async function built(answer?: Answer, overrides: Readonly<Record<string, unknown>> = {}) {
  const { startGateway } = (await import(`${ROOT}dist/sidecar/index.js`)) as typeof Gateways;
  const engine = await fakeEngine(answer);
  const limits = { inlineBytes: 32_768 };
  return { engine, ...(await world([engine], { ...overrides, limits }, {}, startGateway)) };
}

const TENANT = tenantId('t');
const CHAT = '/v1/chat/completions';
const LONG = 'All work and no play. “é” '.repeat(20_000);
const user = (content: string) => ({ role: 'user', content });

describe('a large body', () => {
  it('goes on byte for byte, with the fields that are set in it', async () => {
    const { engine, post } = await built(undefined, { engine: { kind: 'sglang' } });
    const body = ` {"messages":[${JSON.stringify(user(LONG))}], "model":"${MODEL}", "x":12345678901234567890 , "x":1e400}\n`;
    const withId = body.replace('{', '{"rid":"x",');
    for (const sent of [`\uFEFF${body}`, withId]) {
      expect((await post(CHAT, sent)).status).toBe(200);
      // Compares without a diff, because one of half a megabyte helps nobody.
      expect(engine.last.body.toString().replace(/"rid":"[^"]*"/, '"rid":"x"') === withId).toBe(true);
    }
  });

  it('is sent whole again after its engine was busy', async () => {
    let asked = 0;
    const busy = replies(503, '', { 'retry-after': '0' });
    const busyOnce: Answer = (...all) => ((asked += 1) === 1 ? busy : completion())(...all);
    const { engine, post } = await built(busyOnce, { engine: { kind: 'vllm' } });
    const body = chatBody({ messages: [user(LONG)] });
    expect((await post(CHAT, body)).status).toBe(200);
    expect(asked).toBe(2);
    expect(engine.last.headers['content-length']).toBe(String(engine.last.body.length));
    expect(engine.last.body.toString() === body).toBe(true);
  });

  it('is known by its fields and by its history, as a small one is', async () => {
    const { chat } = await built();
    const programOf = async (more: object) => {
      const got = await chat(more);
      expect(got.status).toBe(200);
      return got.headers['x-maitred-program'];
    };
    expect(await programOf({ program_id: 'mine', messages: [user(LONG)] })).toBe('mine');
    expect(await programOf({ metadata: { session_id: 's' }, messages: [user(LONG)] })).toBe('s');
    const first = [user('begin')];
    const second = [...first, { role: 'assistant', content: 'hi' }, user(LONG)];
    const third = [...second, { role: 'assistant', content: 'hi' }, user('end')];
    const program = await programOf({ messages: first });
    expect(await programOf({ messages: second })).toBe(program);
    expect(await programOf({ messages: third })).toBe(program);
    expect(await programOf({ messages: [user(`other ${LONG}`)] })).not.toBe(program);
    // Very long contents are compared only by their beginning and their hash.
    const on = (begin: string) => ({ messages: [user(begin), { role: 'assistant', content: 'hi' }, user('end')] });
    const long = await programOf({ messages: [user(`long ${LONG}`)] });
    expect(await programOf(on(`long ${LONG}.`))).not.toBe(long);
    expect(await programOf(on(`long ${LONG}`))).toBe(long);
  });

  it('is refused for the same reasons, and passed on where it is none of ours to refuse', async () => {
    const { engine, ask, post } = await built();
    const pad = ' '.repeat(300_000);
    for (const [body, code, param] of [
      [`{"model":"m"${pad}`, 'invalid_json', null],
      [`[${pad}]`, 'invalid_body', null],
      [`{"model":"m","messages":[5]${pad}}`, 'invalid_body', 'messages[0]'],
    ] as const) {
      const got = await post(CHAT, body);
      expect([got.status, got.json()['error']]).toMatchObject([400, { code, param }]);
    }
    const invalid = await ask(CHAT, {
      headers: JSON_TYPE,
      body: Buffer.concat([Buffer.from(`{"${pad}`), Buffer.from([0xff])]),
    });
    expect(errorCode(invalid.text)).toBe('invalid_json');
    expect(engine.seen).toEqual([]);
    expect((await post('/tokenize', `not json${pad}`)).status).toBe(200);
    expect(engine.last.body.toString()).toBe(`not json${pad}`);
    expect(errorCode((await post('/tokenize', `{"model":"other"}${pad}`)).text)).toBe('unknown_model');
    expect((await post('/v1/messages/count_tokens', `{"model":"m","messages":[]${pad}}`)).status).toBe(400);
  });

  it.each(['by the thread', 'at once'])('that would take long to parse is refused before: %s', async (where) => {
    const { post } = await (where === 'at once' ? lone() : built());
    const nested = '['.repeat(20_000) + ']'.repeat(20_000);
    const many = Array.from({ length: 130_000 }, (_, i) => `{"k":${i}}`).join();
    const fields = Array.from({ length: 5000 }, (_, i) => `"field${i}":1`).join();
    for (const more of [`"x":${nested}`, `"x":[${many}]`, fields]) {
      expect(refusal(await post(CHAT, chatBody().replace('{', `{${more},`)))).toEqual([400, 'body_too_complex']);
    }
    // Brackets in strings do not count, and a body with few keys may be long.
    const text = `"x":"${'[{:'.repeat(200_000)}\\"${'['.repeat(2000)}"`;
    expect((await post(CHAT, chatBody().replace('{', `{${text},`))).status).toBe(200);
  });

  it('nested deeper than the stack is no fault of ours, however small it is', async ({ one: { post } }) => {
    const tools = '['.repeat(15_000) + ']'.repeat(15_000);
    expect((await post(CHAT, chatBody().replace('{', `{"tools":${tools},`))).status).toBe(200);
  });
});

describe('the reader', () => {
  async function reader() {
    const { BodyReader } = (await import(`${ROOT}dist/sidecar/bodies/reader.js`)) as typeof Readers;
    const made = new BodyReader(() => configOf([], { limits: { inlineBytes: 32_768 } }), 1e6);
    cleanUp(() => made.close());
    return made;
  }
  const bytesOf = (chars: number) => Buffer.from(chatBody({ messages: [user('x'.repeat(chars))] }));

  it('takes the smallest and the oldest that wait in turn, and none whose client has left', async () => {
    const made = await reader();
    const order: string[] = [];
    const read = async (name: string, chars: number, isWanted = true) => {
      await made.read(TENANT, chatApi, CHAT, bytesOf(chars), () => isWanted);
      order.push(name);
    };
    const first = read('first', 900_000);
    const gone = expect(read('gone', 40_000, false)).rejects.toMatchObject({ code: 'client_gone' });
    await Promise.all([first, read('large', 800_000), read('small', 50_000), read('middle', 100_000), gone]);
    expect(order).toEqual(['first', 'large', 'small', 'middle']);
  });

  it('ends with the gateway, and what waits for it too', async () => {
    const made = await reader();
    const reads = [900_000, 800_000].map((chars) => made.read(TENANT, chatApi, CHAT, bytesOf(chars), () => true));
    const refused = reads.map((read) => expect(read).rejects.toMatchObject({ code: 'draining' }));
    await made.close();
    await Promise.all(refused);
  });

  it('reads on with a new thread when one has broken', async () => {
    const { BodyReader } = (await import(`${ROOT}dist/sidecar/bodies/reader.js`)) as typeof Readers;
    const { limits, ...config } = configOf([], { limits: { inlineBytes: 32_768 } });
    // More than any configuration allows; the thread's stack is too small for it.
    const made = new BodyReader(
      () => ({ ...config, limits: { ...limits, bodyDepthMax: 1e7, bodyNodesMax: 1e7 } }),
      1e6,
    );
    cleanUp(() => made.close());
    const nested = '['.repeat(200_000) + ']'.repeat(200_000);
    const deep = Buffer.from(chatBody().replace('{', `{"x":${nested},`));
    await expect(made.read(TENANT, chatApi, CHAT, deep, () => true)).rejects.toThrow(RangeError);
    expect((await made.read(TENANT, chatApi, CHAT, bytesOf(100_000), () => true)).facts.model).toBe(MODEL);
  });
});

describe('bodies that are held', () => {
  const large = { messages: [user('x'.repeat(60_000))] };

  it('are bounded in bytes: 503 with Retry-After, before and while a body comes; all is given back', async () => {
    const { engine, open, counted, openChat, chat, post, raw } = await held({
      limits: { queuedBytes: 100_000 },
      admission: { window: 1 },
    });
    const running = openChat(large);
    await until(() => engine.seen.length === 1);
    expect(await counted('body_bytes')).toBe(chatBody(large).length);
    const refused = await chat(large);
    expect(refusal(refused)).toEqual([503, 'bodies_full']);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    for (const path of ['/tokenize', '/v1/messages/count_tokens'])
      expect((await post(path, chatBody(large))).headers['x-maitred-reason']).toBe('bodies_full');
    const waiting = chat();
    await until(async () => (await counted('body_bytes')) === chatBody(large).length + chatBody().length);
    open();
    expect([(await running).statusCode, (await waiting).status]).toEqual([200, 200]);
    // No bytes remain held for calls that are refused, broken off or passed through.
    await chat({ model: 'other' });
    await chat({ messages: 5 });
    await post('/tokenize', chatBody());
    const cut = `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{"mo`;
    void raw(cut).catch(() => undefined);
    await until(async () => (await counted('body_bytes')) === 4);
  });

  it('of one tenant leave room for those of others', async () => {
    const { engine, open, chat } = await held({ auth: { keys: keysOf('a', 'b') }, limits: { queuedBytes: 130_000 } });
    const calls = [chat(large, bearer('a'))];
    await until(() => engine.seen.length === 1);
    expect(errorCode((await chat(large, bearer('a'))).text)).toBe('bodies_full');
    calls.push(chat(large, bearer('b')));
    await until(() => engine.seen.length === 2);
    open();
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([200, 200]);
  });
});
