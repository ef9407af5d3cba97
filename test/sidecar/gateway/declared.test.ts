import { hash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Recorder } from '../../../sidecar/driver.js';
import type { Event, Work } from '../../../src/index.js';
import { JSON_TYPE, MODEL, ask, chat, completion, errorCode, fakeEngine, world, type FakeEngine } from './world.js';

const REST = { promptTokens: 1200, outputTokens: 300 };
const HEADER = 'x-maitred-remaining';
const sha256 = (key: string): string => hash('sha256', key, 'hex');
const TENANTS = ['a', 'b'].map((tenant) => ({ sha256: sha256(`key-${tenant}`), tenant }));
const bearer = (tenant: string) => ({ authorization: `Bearer key-${tenant}` });

/** A gateway with its events, and what its calls and hints declared, oldest first. */
async function declaring(engine: FakeEngine, overrides: Record<string, unknown> = {}) {
  const events: Event[] = [];
  const recorder: Recorder = { step: (event) => void events.push(event), configured: () => undefined };
  const declared = (): (Work | undefined)[] =>
    events.flatMap((event) =>
      event.type === 'callArrived' || event.type === 'programHinted' ? [event.remaining] : [],
    );
  return { ...(await world([engine], overrides, { recorder })), declared };
}

const hint = (url: string, program: string, body: unknown, headers = {}) =>
  ask(`${url}/programs/${program}/hint`, { headers: { ...JSON_TYPE, ...headers }, body: JSON.stringify(body) });

describe('the rest of a program', () => {
  it('is declared by a field, which no engine sees, or by a header; the field goes first', async () => {
    const engine = await fakeEngine();
    const { url, declared } = await declaring(engine);
    await chat(url, { maitred: { remaining: REST }, seed: 1 }, { [HEADER]: 'prompt=1, output=1' });
    await chat(url, {}, { [HEADER]: 'output=300,calls=4 , prompt=1200' });
    await chat(url, { maitred: null });
    await chat(url, { maitred: {} });
    await chat(url);
    expect(declared()).toEqual([REST, REST, undefined, undefined, undefined]);
    const plain = { model: MODEL, messages: [{ role: 'user', content: 'hello' }] };
    const bodies = engine.seen.map(({ body }) => JSON.parse(String(body)) as object);
    expect(bodies).toEqual([{ ...plain, seed: 1 }, plain, plain, plain, plain]);
  });

  it('is declared in every API', async () => {
    const engine = await fakeEngine();
    const { url, declared } = await declaring(engine);
    const input = { model: MODEL, max_tokens: 9, input: 'x', prompt: 'x', messages: [{ role: 'user', content: 'x' }] };
    for (const path of ['completions', 'responses', 'messages', 'embeddings']) {
      await ask(`${url}/v1/${path}`, {
        headers: JSON_TYPE,
        body: JSON.stringify({ ...input, maitred: { remaining: REST } }),
      });
      expect(String(engine.last.body)).not.toContain('maitred');
    }
    expect(declared()).toEqual([REST, REST, REST, REST]);
  });

  it('is refused where it is malformed, with the field or header to change', async () => {
    const engine = await fakeEngine();
    const { url } = await declaring(engine);
    const bad = [
      ...[3, [], { wrong: 1 }, { remaining: 5 }, { remaining: { promptTokens: 1 } }].map((maitred) => [
        { maitred },
        {},
      ]),
      ...[-1, 1.5, 1e12, '7', null].map((promptTokens) => [{ maitred: { remaining: { ...REST, promptTokens } } }, {}]),
      ...['', 'prompt=1', 'prompt=1, output=', 'prompt=1, output=2, output=3', 'prompt=1, output=9999999999'].map(
        (text) => [{}, { [HEADER]: text }],
      ),
    ] as const;
    for (const [body, headers] of bad) {
      const { status, text } = await chat(url, body as object, headers as Record<string, string>);
      expect([status, text]).toEqual([400, expect.stringMatching(/"param":"(maitred|x-maitred-remaining)/)]);
    }
    expect(engine.seen).toEqual([]);
    const { text } = await chat(url, { maitred: { remaining: { ...REST, promptTokens: -1 } } });
    expect(text).toContain('"param":"maitred.remaining.promptTokens"');
  });
});

describe('POST /programs/{id}/hint', () => {
  it('declares the rest between calls, and says whether that is used', async () => {
    const engine = await fakeEngine(completion());
    const { url, declared } = await declaring(engine);
    await chat(url, {}, { 'x-maitred-program': 'p' });
    const got = await hint(url, 'p', { remaining: { ...REST, calls: 4 } });
    expect([got.status, got.json()]).toEqual([200, { hinted: true, used: false, id: 'p', tenant: 'default' }]);
    expect(got.headers['x-maitred-reason']).toBe('hinted');
    expect(declared()).toEqual([undefined, REST]);
    for (const [program, body, status, code] of [
      ['q', { remaining: REST }, 404, 'unknown_program'],
      ['p', {}, 400, 'invalid_body'],
      ['p', { remaining: REST, more: 1 }, 400, 'invalid_body'],
      ['p', { remaining: { ...REST, calls: -1 } }, 400, 'invalid_body'],
    ] as const) {
      const refused = await hint(url, program, body);
      expect([refused.status, errorCode(refused.text)]).toEqual([status, code]);
    }
    expect(declared()).toHaveLength(2);
  });

  it('reaches only programs of the caller’s tenant', async () => {
    const engine = await fakeEngine();
    const overrides = { auth: { keys: TENANTS }, admin: { port: 0 }, policy: { foresight: 'declared' } };
    const { url, adminUrl, declared } = await declaring(engine, overrides);
    await chat(url, {}, { ...bearer('a'), 'x-maitred-program': 'p' });
    const statuses = [
      await hint(url, 'p', { remaining: REST }),
      await hint(url, 'p', { remaining: REST }, bearer('b')),
      await hint(url, 'a%3Ap', { remaining: REST }, bearer('b')),
    ].map(({ status }) => status);
    expect([statuses, declared()]).toEqual([[401, 404, 404], [undefined]]);
    const got = await hint(url, 'p', { remaining: REST }, bearer('a'));
    expect(got.json()).toMatchObject({ used: true, tenant: 'a' });
    expect(
      (
        await ask(`${adminUrl}/programs/p/hint?tenant=a`, {
          headers: JSON_TYPE,
          body: JSON.stringify({ remaining: REST }),
        })
      ).status,
    ).toBe(200);
    expect(declared()).toEqual([undefined, REST, REST]);
  });
});
