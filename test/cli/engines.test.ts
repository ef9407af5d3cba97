import { describe, expect, it, vi } from 'vitest';
import { itRefuses, run } from '../support/command-line.js';
import { serve } from '../support/serve.js';
import { FakeEngine, hang } from '../support/fake-engine.js';
import { says } from '../sidecar/gateway/misbehaving.js';
import { ask, chat, fakeEngine, lone, named, until, world } from '../sidecar/gateway/world.js';

describe('maitred engines', () => {
  it('lists engines, drains one and returns it', async () => {
    const engine = await fakeEngine();
    const { url } = await world([engine]);
    const engines = (...args: string[]) => run(['engines', ...args, '--url', url]);
    const { code, out } = await engines();
    expect(code).toBe(0);
    expect((await engines('list')).out).toBe(out);
    expect(out.split('\n')[0]).toMatch(/^ENGINE +STATE +IN FLIGHT +FIRST TOKEN +KIND +MODELS$/);
    expect(out.split('\n')[1]).toMatch(new RegExp(`^${engine.id} +up +0( of \\d+)? +– +openai +m$`));
    const drained = `${engine.id} is drained, 0 in flight\n`;
    const last = [
      expect.stringMatching(
        /answers 409: No other engine in service serves m: .* \(0 at present\)\. Only force \(--force\)/,
      ),
    ];
    for (const verb of ['drain', 'remove'])
      expect(await engines(verb, engine.id)).toMatchObject({ code: 1, out: '', errors: last });
    expect(await engines('drain', engine.id, '--force')).toMatchObject({ code: 0, out: drained, errors: [] });
    expect((await engines()).out).toMatch(
      new RegExp(`\n\n${engine.id}: Has been drained for [\\d.]+ m?s: it takes no calls\\s`),
    );
    expect(JSON.parse((await engines('list', '--json')).out)).toMatchObject({ engines: [{ state: 'drained' }] });
    expect((await engines('undrain', engine.id)).out).toBe(`${engine.id} is starting, 0 in flight\n`);
  });

  it('says of an engine without room that it refuses calls, and how long they pause', async () => {
    const { engine, url, chat } = await lone(says(429, { message: 'full' }, { 'retry-after': '8' }));
    chat({}, named('p')).catch(() => undefined);
    const words = async () => (await run(['engines', '--url', url])).out.split('\n\n')[1]?.replaceAll('\n', ' ');
    const told = `${engine.id}: Refuses some calls for lack of room \\(429, 503\\): they pause there for `;
    await expect.poll(words).toMatch(new RegExp(`^${told}\\S+ m?s more\\.`));
  });

  it('has the calls of all gateways in flight, as the page has', async () => {
    const all_gateways = { in_flight: 7, window: 8, working_set_tokens: 0 };
    const row = {
      id: 'e',
      kind: 'vllm',
      state: 'up',
      models: ['m'],
      failures: null,
      outages: [],
      first_token_seconds: { p50: null, p99: null },
      all_gateways,
    };
    const answer = JSON.stringify({ engines: [{ ...row, in_flight: 3, window: 4 }] });
    const url = await serve((_, response) => void response.setHeader('x-maitred-reason', 'admin').end(answer));
    expect((await run(['engines', '--url', url])).out).toMatch(/^e +up +7 of 8 .*vllm +m$/m);
  });

  it('adds an engine, with its key, and removes it', async () => {
    const [first, engine] = [await fakeEngine(), await fakeEngine()];
    const { url } = await world([first]);
    const engines = (...args: string[]) => run(['engines', ...args, '--url', url], { KEY: 'secret-of-the-engine' });
    const added = await engines(...`add ${engine.url} --id gpu-3 --kind openai --api-key KEY --window 3`.split(' '));
    expect([added.code, added.out]).toEqual([0, 'gpu-3 is up\n']);
    expect((await ask(`${url}/engines/gpu-3`)).json()).toMatchObject({ window: 3 });
    expect(added.errors).toEqual([expect.stringMatching(/gpu-3 has a KV cache of unknown size.*--capacity-tokens/)]);
    await engines('drain', first.id);
    await chat(url, {}, named('p'));
    expect(engine.seen.at(-1)?.headers['authorization']).toBe('Bearer secret-of-the-engine');
    const again = await engines('add', engine.url, '--id', 'gpu-3');
    expect([again.code, again.errors]).toEqual([1, [expect.stringContaining('gpu-3')]]);
    expect((await engines('remove', 'gpu-3', '--force')).out).toBe('gpu-3 drains, and is then forgotten\n');
    await until(async () => (await ask(`${url}/engines/gpu-3`)).status === 404);
  });

  it('asks the gateway of MAITRED_URL, as other commands do, unless a flag names one', async () => {
    const { url } = await world([await fakeEngine()]);
    const env = { MAITRED_URL: `${url}/v1` };
    for (const word of ['engines', 'why', 'top', 'doctor']) expect(await run([word], env)).toMatchObject({ code: 0 });
    expect((await run(['end', 'p'], env)).err).toContain(`${url} answers 404`);
    expect((await run(['engines', '--url', 'http://127.0.0.1:1'], env)).err).toContain('127.0.0.1:1 cannot be reached');
    expect((await run(['engines'], { MAITRED_URL: 'gpu' })).err).toContain('MAITRED_URL');
    expect((await run(['why', '--help'])).out).toContain('env: MAITRED_URL');
    // It is no key of the configuration.
    expect((await run(['config'], env)).code).toBe(0);
  });

  it('refuses an engine that is there by another name, and warns of one that wants a key', async () => {
    const [first, keyed] = [await fakeEngine(), await FakeEngine.start({ '/health': 200, '/v1/models': 401 })];
    const { url } = await world([first]);
    const add = (...args: string[]) =>
      run(['engines', 'add', ...args, '--capacity-tokens', '900', '--window', '3', '--url', url]);
    for (const twin of [first.url, `${first.url}/v1`, first.url.replace('127.0.0.1', 'localhost')])
      expect(await add(twin, '--id', 'twin')).toMatchObject({
        code: 1,
        out: '',
        errors: [expect.stringMatching(/answers 409: .* the engine 127\S+: name each/)],
      });
    expect((await ask(`${url}/engines/twin`)).status).toBe(404);
    const { out } = await add(keyed.url, '--id', 'keyed');
    expect((await ask(`${url}/engines/keyed`)).json()).toMatchObject({ capacity_tokens: 900 });
    expect(out).toMatch(/^keyed is down: .* 401: engines\[\]\.apiKey is missing; .*--api-key VARIABLE\n$/);
    const findings = (await run(['doctor', '--url', url, '--json'])).out;
    expect(findings).toMatch(/"found":"keyed has been down[^}]*apiKey/);
    // Of the same URL, what an operator has removed may come back at once.
    await run(['engines', 'remove', 'keyed', '--url', url]);
    expect((await add(keyed.url, '--id', 'again')).code).toBe(0);
  });

  it.each([200, 404])('adds neither a gateway nor a web site (%i), but what may be starting', async (status) => {
    const { url } = await world([await fakeEngine()]);
    const add = (engine: string) => run(['engines', 'add', engine, '--id', 'other', '--url', url]);
    const [page, none] = [await FakeEngine.start({}), await FakeEngine.start({ '/health': 503 })];
    page.all = (response) => response.writeHead(status, { 'content-type': 'text/html; charset=utf-8' }).end('<p>');
    const other = await world([await fakeEngine()]);
    for (const [refused, words] of [
      [other.url, 'is a maitred gateway'],
      [url, 'is a maitred gateway'],
      [page.url, 'is a web site'],
    ] as const)
      expect(await add(refused)).toMatchObject({ code: 1, out: '', errors: [expect.stringContaining(words)] });
    expect((await ask(`${url}/engines/other`)).status).toBe(404);
    expect(await add(none.url)).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^other is down: .* it stays/) as string,
    });
  });

  it('adds nothing for a client that has gone', async () => {
    const { url } = await world([await fakeEngine()]);
    const slow = await FakeEngine.start({});
    slow.all = hang;
    const client = new AbortController();
    const body = JSON.stringify({ url: slow.url });
    const headers = { 'content-type': 'application/json' };
    const asked = fetch(`${url}/engines`, { method: 'POST', body, headers, signal: client.signal }).catch(() => 'gone');
    await until(() => slow.requests.length === 1);
    client.abort();
    expect(await asked).toBe('gone');
    await until(() => slow.sockets === 0);
    expect((await ask(`${url}/engines`)).text).not.toContain(slow.id);
  });

  it('looks for a bounded time at what it adds', async () => {
    const { url } = await world([await fakeEngine()]);
    const slow = await FakeEngine.start({});
    slow.all = hang;
    const limit = new AbortController();
    vi.spyOn(AbortSignal, 'timeout').mockReturnValueOnce(limit.signal);
    const headers = { 'content-type': 'application/json' };
    const asked = fetch(`${url}/engines`, { method: 'POST', body: JSON.stringify({ url: slow.url }), headers });
    await until(() => slow.requests.length === 1);
    limit.abort();
    expect([(await asked).status, slow.requests.filter((each) => each.includes('/v1/models'))]).toEqual([201, []]);
    vi.restoreAllMocks();
  });

  it.each([
    ['drain', 'x'],
    ['add', 'http://gpu:1'],
  ])('prints no escapes of a hostile gateway: %s', async (...words) => {
    const row = {
      id: '\u001B[1mid',
      state: '\u001B[2Jup',
      in_flight: '\u001B[3m',
      models: [],
      down_reason: '\u001B[4m',
    };
    const url = await serve((_, response) => {
      response.setHeader('x-maitred-reason', 'admin');
      response.end(JSON.stringify(row));
    });
    const { code, out } = await run(['engines', ...words, '--url', url]);
    expect([code, out]).toEqual([0, expect.stringContaining('\uFFFD[2Jup')]);
    expect(out).not.toContain('\u001B');
  });

  it('says that it knows no such engine', async () => {
    const { url } = await world([await fakeEngine()]);
    const { code, out, errors } = await run(['engines', 'drain', 'gpu', '--url', url]);
    expect([code, out, errors]).toEqual([1, '', [expect.stringContaining('No such engine')]]);
  });

  const command = (...args: string[]) => run(['engines', ...args]);
  it('names its subcommands where one is mistyped, whatever follows', async () =>
    expect((await command('remov', 'gpu', 'x')).errors).toEqual([
      expect.stringContaining("unknown subcommand 'remov': list, "),
    ]));
  it('says where a subcommand belongs that stands behind options', async () =>
    expect((await command('--url', 'http://127.0.0.1:1', 'add', 'http://x')).errors).toEqual([
      expect.stringContaining("put 'add' before its options"),
    ]));
  itRefuses(command, ['drain', 'undrain', 'add', 'remove', 'lst', 'dran gpu', 'ad http://gpu-3:8000 --id gpu-3']);
  itRefuses(command, ['list --url x', '--url http://127.0.0.1:1 drain gpu', 'add http://x --api-key NOT_SET_ANYWHERE']);
});

describe('maitred end', () => {
  it('ends a program, once', async () => {
    const { url } = await world([await fakeEngine()]);
    await chat(url, {}, named('task'));
    const end = () => run(['end', 'task', '--url', url]);
    expect(await end()).toMatchObject({ code: 0, out: 'task has ended\n' });
    expect((await ask(`${url}/ended`)).json()).toMatchObject({ programs: [{ id: 'task', cause: 'operator' }] });
    const again = await end();
    const told = [expect.stringMatching(/Program "task" ended .* ago: an operator ended it\./) as string];
    expect([again.code, again.errors]).toEqual([1, told]);
    const got = await ask(`${url}/programs/task`);
    expect([got.status, got.text]).toEqual([404, expect.stringContaining('an operator ended it.')]);
    expect((await ask(`${url}/programs/task?tenant=other`)).text).toContain('No program');
    expect((await run(['end', 'batch_nope', '--url', url])).errors).toEqual([
      expect.stringContaining('No program or batch "batch_nope" is known'),
    ]);
  });

  itRefuses((...args) => run(['end', ...args]), ['', '--url x p']);
});
