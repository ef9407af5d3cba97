import { describe, expect, it } from 'vitest';
import { JSON_TYPE, ask, errorCode, until, type Got } from '../../sidecar/gateway/world.js';
import { BODIES, NEEDS, PATHS, VLLM, gateway, model, post, programRow, timeless, type Path } from './vllm.js';

/** Headers that describe an answer's form, without the gateway's own. */
const FORM_HEADERS = ['content-type', 'server', 'vary', 'allow'] as const;

/** Under load the engine may put two tokens into one event, so the comparison is retried. */
describe.skipIf(VLLM === '')(`in front of vLLM${NEEDS}`, { retry: 2 }, () => {
  describe.each(PATHS)('%s', (path) => {
    it.each([false, true])('answers as the engine does, byte for byte (stream: %s)', async (stream) => {
      const { url } = await gateway();
      const more = { stream, ...(stream && takesUsageOption(path) && { stream_options: { include_usage: true } }) };
      const [direct, through] = [await post(VLLM, path, more), await post(url, path, more)];
      expect([through.status, timeless(through.text)]).toEqual([200, timeless(direct.text)]);
      for (const name of FORM_HEADERS) expect([name, through.headers[name]]).toEqual([name, direct.headers[name]]);
      expect(through.text).toContain('usage');
      expect(through.headers['x-maitred-engine']).toBe(new URL(VLLM).host);
    });

    it('counts the tokens of an answer whose client asked for no usage', async () => {
      const { url, logs } = await gateway();
      await post(url, path, { stream: true }, { 'x-maitred-program': 'p' });
      await until(() => logs.some((line) => line['msg'] === 'call'));
      const line = logs.find((one) => one['msg'] === 'call');
      expect(line).toMatchObject({ outcome: 'completed', status: 200, output_tokens: 6 });
      expect(line?.['prompt_tokens']).toBeGreaterThan(0);
    });
  });

  it.each(PATHS.filter(takesUsageOption))('%s hides the usage that only the gateway asked for', async (path) => {
    const { url } = await gateway();
    for (const options of [{}, { stream_options: { include_usage: false, continuous_usage_stats: true } }]) {
      const direct = await post(VLLM, path, { stream: true, ...options });
      const through = await post(url, path, { stream: true, ...options });
      expect(through.text).not.toContain('usage');
      // vLLM puts its fingerprint on the last chunk of a stream, which is the hidden one here.
      const withoutFingerprint = direct.text.replace(/,"system_fingerprint":"[^"]*"/, '');
      expect(timeless(through.text)).toBe(timeless(withoutFingerprint));
    }
  });

  it('lets unknown fields and the engine’s own through', async () => {
    const { url } = await gateway();
    const own = { return_token_ids: true, logprobs: true, top_logprobs: 2, cache_salt: 's', no_such_field: [1] };
    const more = { ...own, n: 2, temperature: 1, seed: 7 };
    for (const stream of [false, true]) {
      const direct = await post(VLLM, '/v1/chat/completions', { ...more, stream });
      const through = await post(url, '/v1/chat/completions', { ...more, stream });
      expect(through.status).toBe(200);
      expect(sortedEvents(through.text)).toEqual(sortedEvents(direct.text));
    }
  });

  it('takes a conversation that names nothing for one program', async () => {
    const world = await gateway();
    const messages: object[] = [
      { role: 'system', content: 'You are brief.' },
      ...BODIES['/v1/chat/completions'].messages,
    ];
    const programs = new Set<unknown>();
    for (let turn = 0; turn < 3; turn += 1) {
      const answer = await post(world.url, '/v1/chat/completions', { messages });
      programs.add(answer.headers['x-maitred-program']);
      // The whole message goes back, including all of vLLM's nulls.
      const { choices } = answer.json() as { choices: { message: object }[] };
      messages.push(choices[0]?.message ?? {}, { role: 'user', content: `go on ${turn}` });
    }
    expect(programs.size).toBe(1);
    const [program] = programs;
    expect(await programRow(world, String(program))).toMatchObject({ calls: 3 });
  });
});

describe.skipIf(VLLM === '')(`passed through to vLLM${NEEDS}`, () => {
  it('/v1/models lists its models', async () => {
    const { url } = await gateway();
    const direct = await ask(`${VLLM}/v1/models`);
    expect(timeless((await ask(`${url}/v1/models`)).text)).toBe(timeless(direct.text));
    expect((await ask(`${url}/v1/models/${await model()}`)).json()).toMatchObject({ id: await model() });
  });

  it.each([
    ['/tokenize', { messages: [{ role: 'user', content: 'hello' }], return_token_strs: true }],
    ['/tokenize', {}],
    ['/v1/messages/count_tokens', { messages: [{ role: 'user', content: 'hello' }] }],
    ['/v1/embeddings', { input: 'hello' }],
  ])('%s %j', async (path, body) => {
    const { url } = await gateway();
    const init = { headers: JSON_TYPE, body: JSON.stringify({ model: await model(), ...body }) };
    const direct = await ask(VLLM + path, init);
    const through = await ask(url + path, init);
    expectSame(path, direct, through);
    expect(through.headers['content-type']).toMatch(/^application\/json\b/);
    expect(through.headers['x-maitred-reason']).toEqual(expect.any(String));
  });

  it('what is done to a stored response goes to the engine', async ({ skip }) => {
    const { url } = await gateway();
    const { id } = (await post(url, '/v1/responses')).json();
    if ((await ask(`${VLLM}/v1/responses/${String(id)}`)).status === 404)
      skip('this vLLM stores no responses: VLLM_ENABLE_RESPONSES_API_STORE=1');
    for (const [method, suffix] of [
      ['GET', ''],
      ['POST', '/cancel'],
      ['DELETE', ''],
    ] as const) {
      const path = `/v1/responses/${String(id)}${suffix}`;
      expectSame(path, await ask(VLLM + path, { method }), await ask(url + path, { method }));
    }
    const unknown = await ask(`${url}/v1/responses/resp_unknown`);
    expect([unknown.status, errorCode(unknown.text)]).toEqual([404, 'unknown_response']);
  });
});

describe.skipIf(VLLM === '')(`refused by vLLM${NEEDS}`, () => {
  const long = 'word '.repeat(60_000);
  const refused: [Path, object][] = [
    ['/v1/chat/completions', { temperature: -1 }],
    ['/v1/chat/completions', { temperature: -1, stream: true }],
    ['/v1/chat/completions', { tool_choice: 'auto' }],
    ['/v1/chat/completions', { stream_options: { include_usage: true } }],
    ['/v1/completions', { prompt: long }],
    ['/v1/responses', { temperature: -1 }],
    ['/v1/messages', { temperature: 'warm' }],
    ['/v1/messages', { messages: [{ role: 'user', content: long }] }],
  ];

  it.each(refused)('%s %$ comes through', async (path, more) => {
    const { url, adminUrl } = await gateway();
    const direct = await post(VLLM, path, more);
    const through = await post(url, path, more);
    expect(direct.status).toBeGreaterThanOrEqual(400);
    expectSame(path, direct, through);
    expect(through.headers['x-maitred-engine']).toBe(new URL(VLLM).host);
    expect((await ask(`${adminUrl}/engines`)).text).toContain('"in_flight":0');
  });

  it.each(PATHS)('%s with an unknown model is refused alike, and without the engine', async (path) => {
    const { url } = await gateway();
    const more = { model: 'no-such-model' };
    const [direct, through] = [await post(VLLM, path, more), await post(url, path, more)];
    expect([through.status, direct.status]).toEqual([404, 404]);
    expect(Object.keys(through.json())).toEqual(expect.arrayContaining(Object.keys(direct.json())));
    expect(through.headers['x-maitred-engine']).toBeUndefined();
  });
});

/** The engine's answer. An error that is not in the form of the path's API has its status, and a message in that form. */
function expectSame(path: string, direct: Got, through: Got): void {
  const isMessages = path.startsWith('/v1/messages');
  if (direct.status < 400 || (isMessages ? direct.json()['type'] === 'error' : 'error' in direct.json()))
    expect([through.status, through.text]).toEqual([direct.status, direct.text]);
  else {
    expect(through.status).toBe(direct.status);
    expect(through.json()).toMatchObject({
      ...(isMessages && { type: 'error' }),
      error: { type: 'invalid_request_error', message: expect.any(String) as unknown },
    });
  }
}

function takesUsageOption(path: Path): boolean {
  return path === '/v1/chat/completions' || path === '/v1/completions';
}

/** Sorted, because the order of events of several answers in one stream is random. */
function sortedEvents(text: string): string[] {
  return timeless(text)
    .split('\n\n')
    .map((event) => event.replace(/,?"system_fingerprint":"[^"]*"/, ''))
    .sort();
}
