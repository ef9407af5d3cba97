import { describe, expect, it } from 'vitest';
import type { Work } from '../../../src/index.js';
import {
  MODEL,
  ask,
  bearer,
  chat,
  completion,
  configOf,
  fakeEngine,
  keysOf,
  named,
  post,
  recording,
  refusal,
  world,
  type FakeEngine,
  type Got,
} from './world.js';

const REST = { promptTokens: 1200, outputTokens: 300 };
const HEADER = 'x-maitred-remaining';
const TENANTS = keysOf('a', 'b');

/** A gateway with its events, and what its calls declared, oldest first. */
async function declaring(engine: FakeEngine, overrides: Record<string, unknown> = {}) {
  const { steps, recorder } = recording();
  const declared = (): (Work | undefined)[] =>
    steps.flatMap(({ event }) => (event.type === 'callArrived' ? [event.remaining] : []));
  return { ...(await world([engine], overrides, { recorder })), declared };
}

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
      await post(`${url}/v1/${path}`, { ...input, maitred: { remaining: REST } });
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
      const { status, text } = await chat(url, body, headers as Record<string, string>);
      expect([status, text]).toEqual([400, expect.stringMatching(/"param":"(maitred|x-maitred-remaining)/)]);
    }
    expect(engine.seen).toEqual([]);
    const { text } = await chat(url, { maitred: { remaining: { ...REST, promptTokens: -1 } } });
    expect(text).toContain('"param":"maitred.remaining.promptTokens"');
  });
});

const node = (id: string) => ({ id, promptTokens: 100, outputTokens: 10 });
const LOOP = {
  name: 'fix',
  nodes: [node('agent'), { id: 'tools' }],
  edges: [
    { from: 'agent', to: 'tools', probability: 0.75, tool: 'bash', ms: 400 },
    { from: 'tools', to: 'agent' },
  ],
};
const register = (url: string, body: unknown, headers = {}) => post(`${url}/v1/workflows`, body, headers);
const FORECAST = 'x-maitred-forecast';

describe('a registered workflow', () => {
  it('tells the rest of a program from the node that a call names', async () => {
    const engine = await fakeEngine();
    const { url, declared } = await declaring(engine);
    const rest = [
      { id: 'agent', calls: 4, promptTokens: 400, outputTokens: 40, toolMs: 1200 },
      { id: 'tools', calls: 4, promptTokens: 400, outputTokens: 40, toolMs: 1200 },
    ];
    expect((await register(url, LOOP)).json()).toEqual({ name: 'fix', version: 1, rest });
    const headers = { 'x-maitred-workflow': 'fix', 'x-maitred-node': 'agent' };
    const answers = [
      await chat(url, {}, headers),
      await chat(url, { maitred: { workflow: 'fix', node: 'agent' } }),
      // A header for all calls, and a field for each.
      await chat(url, { maitred: { node: 'tools' } }, { ...headers, 'x-maitred-node': 'x' }),
      await chat(url, { maitred: { remaining: REST } }, headers),
      await chat(url, { maitred: { node: 'nowhere' } }, headers),
      await chat(url, { maitred: { node: 'agent' } }),
      await chat(url),
    ];
    const sum = { promptTokens: 400, outputTokens: 40 };
    expect(declared()).toEqual([sum, sum, sum, REST, undefined, undefined, undefined]);
    const told = ['off', 'off', 'off', 'off', 'off; problem=unknown_node', 'off; problem=unknown_workflow', undefined];
    expect(answers.map(({ status, headers }) => [status, headers[FORECAST]])).toEqual(told.map((text) => [200, text]));
  });

  it('is replaced by a newer graph of its name, listed, read and removed', async () => {
    const { url, gateway } = await world([await fakeEngine()]);
    await register(url, LOOP);
    expect((await register(url, LOOP)).json()).toMatchObject({ version: 1 });
    const chain = { name: 'fix', nodes: [node('only')] };
    expect((await register(url, chain)).json()).toMatchObject({ version: 2, rest: [{ id: 'only', calls: 1 }] });
    gateway.reload(configOf([]));
    expect((await ask(`${url}/v1/workflows`)).json()).toEqual({ workflows: [{ name: 'fix', version: 2, nodes: 1 }] });
    expect((await ask(`${url}/v1/workflows/fix`)).json()).toMatchObject({ version: 2, workflow: chain });
    const remove = () => ask(`${url}/v1/workflows/fix`, { method: 'DELETE' });
    expect((await remove()).json()).toEqual({ name: 'fix', removed: true });
    expect(refusal(await remove())).toEqual([404, 'unknown_workflow']);
  });

  it('is bounded in number, nodes and bytes, and refused with the field to change', async () => {
    const { url } = await world([await fakeEngine()]);
    const names = Array.from({ length: 100 }, (_, at) => (at === 0 ? 'fix' : `w${at}`));
    for (const name of names) expect((await register(url, { ...LOOP, name })).status).toBe(200);
    for (const [body, status, code, param] of [
      [{ ...LOOP, name: 'two' }, 409, 'workflows_full', null],
      [{ ...LOOP, nodes: Array.from({ length: 257 }, (_, at) => node(`n${at}`)) }, 400, 'invalid_body', 'nodes'],
      [{ ...LOOP, name: 'x'.repeat(70_000) }, 413, 'body_too_large', null],
      [
        { ...LOOP, edges: [{ from: 'agent', to: 'agent', probability: 2 }] },
        400,
        'invalid_body',
        'edges[0].probability',
      ],
      [{ ...LOOP, edges: [{ from: 'agent', to: 'x' }] }, 400, 'invalid_body', 'edges[0].to'],
      [{ ...LOOP, wrong: 1 }, 400, 'invalid_body', 'wrong'],
      [{ ...LOOP, name: 'a/b' }, 400, 'invalid_body', 'name'],
    ] as const) {
      const got = await register(url, body);
      expect([got.status, got.json()['error']]).toEqual([status, expect.objectContaining({ code, param })]);
    }
  });

  it('is its tenant’s own', async () => {
    const { url, declared } = await declaring(await fakeEngine(), { auth: { keys: TENANTS } });
    expect((await register(url, LOOP)).status).toBe(401);
    await register(url, LOOP, bearer('a'));
    expect((await ask(`${url}/v1/workflows`, { headers: bearer('b') })).json()).toEqual({ workflows: [] });
    const maitred = { workflow: 'fix', node: 'agent' };
    const got = await chat(url, { maitred }, bearer('b'));
    expect([got.status, got.headers[FORECAST], declared()]).toEqual([
      200,
      'off; problem=unknown_workflow',
      [undefined],
    ]);
  });
});

describe('x-maitred-forecast', () => {
  it('says who foresees the rest of the program, and how long it is', async () => {
    const engine = await fakeEngine();
    const policy = { foresight: 'declared' };
    // One that tells its own times, whatever this machine takes.
    const engines = [{ url: engine.url, kind: 'vllm' }];
    const { gateway, url } = await world([], { policy, engines });
    // Programs of 1 to 9 units, as declared: from the ninth on, declarations count.
    const answers: Got[] = [];
    for (let units = 1; units <= 9; units += 1) {
      engine.answer = completion({ metrics: { time_to_first_token_ms: 0, generation_time_ms: 20 * units } });
      const maitred = { remaining: { promptTokens: 0, outputTokens: units } };
      answers.push(await chat(url, { maitred }, named(`p${units}`)));
      if (units < 9) await ask(`${url}/programs/p${units}/end`, { method: 'POST' });
    }
    const told = answers.map(({ headers }) => headers[FORECAST]);
    expect(told[0]).toBe('none');
    // The programs before it took the declared 20 ms an output token.
    expect(told[8]).toMatch(/^declared; remaining-ms=1\d\d$/);
    // A new declaration counts from the service that the program has attained by then.
    await chat(url, { maitred: { remaining: { promptTokens: 0, outputTokens: 40 } } }, named('p9'));
    const forecast = { source: 'declared', used: true, remaining_seconds: expect.any(Number) as number };
    expect((await ask(`${url}/programs/p9`)).json()).toMatchObject({ forecast });
    const { text } = (await ask(`${url}/programs/p9/explain`)).json() as { text: string };
    expect(text).toMatch(/expected to need .* s more of engine time, by what its client declared\./);
    gateway.reload(configOf([], { engines, policy: { ...policy, name: 'fcfs-window' } }));
    expect((await ask(`${url}/programs/p9`)).json()).toMatchObject({ forecast: { ...forecast, used: false } });
    const unused = (await ask(`${url}/programs/p9/explain`)).json() as { text: string };
    expect(unused.text).toContain('The policy does not rank by that.');
    await chat(url, {}, named('q'));
    expect((await ask(`${url}/programs/q`)).json()).toMatchObject({
      forecast: { source: 'none', remaining_seconds: null },
    });
  });
});
