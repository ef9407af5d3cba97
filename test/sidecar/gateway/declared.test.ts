import { describe, expect, it } from 'vitest';
import {
  MODEL,
  completion,
  configOf,
  fakeEngine,
  named,
  recording,
  world,
  type FakeEngine,
  type Got,
} from './world.js';

const REST = { promptTokens: 1200, outputTokens: 300 };
const HEADER = 'x-maitred-remaining';
const FORECAST = 'x-maitred-forecast';

/** A gateway with its events, and what its calls declared, oldest first. */
async function declaring(engine: FakeEngine, overrides: Record<string, unknown> = {}) {
  const { steps, recorder } = recording();
  const arrivals = () => steps.flatMap(({ event }) => (event.type === 'callArrived' ? [event] : []));
  const declared = () => arrivals().map(({ remaining }) => remaining);
  return { ...(await world([engine], overrides, { recorder })), arrivals, declared };
}

describe('the rest of a program', () => {
  it('is declared by a field, which no engine sees, or by a header; the field goes first', async () => {
    const engine = await fakeEngine();
    const { declared, chat } = await declaring(engine);
    const told = await chat({ maitred: { remaining: REST }, seed: 1 }, { [HEADER]: 'prompt=1, output=1' });
    expect(told.headers[FORECAST]).toBe('off');
    await chat({}, { [HEADER]: 'output=300,calls=4 , prompt=1200' });
    const answers = [await chat({ maitred: null }), await chat({ maitred: { workflow: 'fix' } }), await chat()];
    expect(answers.map(({ headers }) => headers[FORECAST])).toEqual([undefined, undefined, undefined]);
    expect(declared()).toEqual([REST, REST, undefined, undefined, undefined]);
    const plain = { model: MODEL, messages: [{ role: 'user', content: 'hello' }] };
    const bodies = engine.seen.map(({ body }) => JSON.parse(String(body)) as object);
    expect(bodies).toEqual([{ ...plain, seed: 1 }, plain, plain, plain, plain]);
  });

  it('waits no longer than the shortest objective of its workflow and tenant', async () => {
    const objectives = { workflows: { fix: 5000 }, tenants: { default: 9000 } };
    const { arrivals, chat } = await declaring(await fakeEngine(), { objectives });
    await chat({}, { 'x-maitred-workflow': 'fix' });
    await chat({ maitred: { workflow: 'toString' } });
    expect(arrivals().map(({ waitMsMax }) => waitMsMax)).toEqual([5000, 9000]);
    expect(() => configOf([], { objectives: { tenants: { nobody: 1 } } })).toThrow(/no key in auth.keys/);
  });

  it('has a name of its kind, which is kept if it is no longer than an id', async () => {
    const { chat, admin } = await declaring(await fakeEngine());
    for (const name of ['fix', '', 'x'.repeat(10_000)])
      await chat({}, { ...named(`p${name.length}`), 'x-maitred-workflow': name });
    await chat({ maitred: { workflow: ' Übersetzen ' } }, named('u'));
    const { programs } = (await admin('/programs')).json() as {
      programs: { id: string; agent_type: string }[];
    };
    const types = Object.fromEntries(programs.map((row) => [row.id, row.agent_type]));
    expect(types).toMatchObject({
      p3: 'fix',
      p10000: expect.stringMatching(/^sha256-\w{64}$/) as string,
      u: 'Übersetzen',
    });
    expect(types['p0']).not.toBe('');
  });

  it('is declared in every API', async () => {
    const engine = await fakeEngine();
    const { declared, post } = await declaring(engine);
    const input = { model: MODEL, max_tokens: 9, input: 'x', prompt: 'x', messages: [{ role: 'user', content: 'x' }] };
    for (const path of ['completions', 'responses', 'messages', 'embeddings']) {
      await post(`/v1/${path}`, { ...input, maitred: { remaining: REST } });
      expect(String(engine.last.body)).not.toContain('maitred');
    }
    expect(declared()).toEqual([REST, REST, REST, REST]);
  });

  it('is refused where it is malformed, with the field or header to change', async () => {
    const engine = await fakeEngine();
    const { chat } = await declaring(engine);
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
      const { status, text } = await chat(body, headers as Record<string, string>);
      expect([status, text]).toEqual([400, expect.stringMatching(/"param":"(maitred|x-maitred-remaining)/)]);
    }
    expect(engine.seen).toEqual([]);
    const { text } = await chat({ maitred: { remaining: { ...REST, promptTokens: -1 } } });
    expect(text).toContain('"param":"maitred.remaining.promptTokens"');
  });
});

describe('x-maitred-forecast', () => {
  it('says who foresees the rest of the program, and how long it is', async () => {
    const engine = await fakeEngine();
    const policy = { foresight: 'declared' };
    // One that tells its own times, whatever this machine takes.
    const engines = [{ url: engine.url, kind: 'vllm' }];
    const { gateway, chat, ask } = await world([], { policy, engines });
    // Programs of 1 to 9 units, as declared: from the ninth on, declarations count.
    const answers: Got[] = [];
    for (let units = 1; units <= 9; units += 1) {
      engine.answer = completion({ metrics: { time_to_first_token_ms: 0, generation_time_ms: 20 * units } });
      const maitred = { remaining: { promptTokens: 0, outputTokens: units } };
      answers.push(await chat({ maitred }, named(`p${units}`)));
      if (units < 9) await ask(`/programs/p${units}/end`, { method: 'POST' });
    }
    const told = answers.map(({ headers }) => headers[FORECAST]);
    expect(told[0]).toBe('none');
    // The programs before it took the declared 20 ms an output token.
    expect(told[8]).toMatch(/^declared; remaining-ms=1\d\d$/);
    // A new declaration counts from the service that the program has attained by then.
    await chat({ maitred: { remaining: { promptTokens: 0, outputTokens: 40 } } }, named('p9'));
    const forecast = { source: 'declared', used: true, remaining_seconds: expect.any(Number) as number };
    expect((await ask('/programs/p9')).json()).toMatchObject({ forecast });
    const { text } = (await ask('/programs/p9/explain')).json() as { text: string };
    expect(text).toMatch(/expected to need .* m?s more of engine time, by what its client declared\./);
    gateway.reload(configOf([], { engines, policy: { ...policy, name: 'fcfs-window' } }));
    expect((await ask('/programs/p9')).json()).toMatchObject({ forecast: { ...forecast, used: false } });
    const unused = (await ask('/programs/p9/explain')).json() as { text: string };
    expect(unused.text).toContain('The policy does not rank by that.');
    await chat({}, named('q'));
    expect((await ask('/programs/q')).json()).toMatchObject({
      forecast: { source: 'none', remaining_seconds: null },
    });
  });
});
