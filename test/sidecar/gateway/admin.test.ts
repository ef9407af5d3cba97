import { describe, expect, it } from 'vitest';
import type { ProgramGroups, ProgramPage } from '../../../sidecar/admin/answers.js';
import {
  MODEL,
  ONE_AT_A_TIME,
  bearer,
  chat,
  JSON_TYPE,
  ask,
  errorCode,
  fakeEngine,
  keysOf,
  named,
  refusal,
  until,
  world,
  lone,
  held,
} from './world.js';

const keys = keysOf('a', 'b');
const token = (text: string) => ({ authorization: `Bearer ${text}` });

describe('API keys', () => {
  it('are asked for on every path of a client, and taken in both headers', async () => {
    const { engine, post, ask, chat } = await lone(undefined, { auth: { keys } });
    for (const headers of [{}, token('wrong'), { 'x-api-key': 'wrong' }, { authorization: 'key-a' }, token('')]) {
      for (const path of ['/v1/chat/completions', '/v1/messages', '/v1/anything', '/tokenize', '/programs/release']) {
        const got = await post(path, '{}', headers);
        expect([got.status, got.headers['x-maitred-reason']]).toEqual([401, 'unauthorized']);
        expect(got.headers['www-authenticate']).toBe('Bearer');
        const isMalformed = ['key-a', 'Bearer '].includes((headers as { authorization?: string }).authorization ?? '');
        expect(got.text.includes('must be `Bearer KEY`')).toBe(isMalformed);
      }
    }
    expect((await ask('/v1/models')).status).toBe(401);
    expect((await chat({}, bearer('a'))).status).toBe(200);
    expect((await chat({}, { 'x-api-key': 'key-b' })).status).toBe(200);
    // The key is for the gateway, and must not reach the engine.
    for (const seen of engine.seen) {
      expect(seen.headers).not.toHaveProperty('authorization');
      expect(seen.headers).not.toHaveProperty('x-api-key');
    }
  });

  it('keep tenants apart', async () => {
    const { chat, admin, ask } = await lone(undefined, { auth: { keys }, admin: { port: 0 } });
    await chat({}, { ...bearer('a'), 'x-maitred-program': 'p' });
    await chat({}, { ...bearer('b'), 'x-maitred-program': 'p' });
    const both = [
      { id: 'p', tenant: 'a' },
      { id: 'p', tenant: 'b' },
    ];
    expect((await admin('/programs')).json()).toMatchObject({ total: 2, programs: both });
    expect((await admin('/programs/p')).status).toBe(400);
    expect((await admin('/programs/p?tenant=b')).json()).toMatchObject({ tenant: 'b', calls: 1 });
    const release = { headers: { ...JSON_TYPE, ...bearer('b') }, body: '{"program_id":"p"}' };
    expect((await ask('/programs/release', release)).json()).toEqual({ program_id: 'p', released: true });
    expect((await admin('/programs?tenant=b')).json()).toMatchObject({ programs: [], total: 0 });
    expect((await admin('/programs/p')).json()).toMatchObject({ tenant: 'a' });
  });

  it('never show: not in logs, not in the configuration, not in metrics', async () => {
    const engine = await fakeEngine();
    const { logs, chat, admin } = await world([engine], {
      auth: { keys },
      admin: { port: 0, token: 'admin-token' },
      engines: [{ url: engine.url, kind: 'openai', apiKey: 'engine-secret' }],
    });
    await chat({ messages: [{ role: 'user', content: 'prompt-text' }] }, bearer('a'));
    await chat({}, token('wrong-key'));
    const shown = [
      JSON.stringify(logs),
      (await admin('/config', { headers: token('admin-token') })).text,
      (await admin('/metrics', { headers: token('admin-token') })).text,
      (await admin('/engines', { headers: token('admin-token') })).text,
    ].join('\n');
    expect(shown).toContain('[redacted]');
    for (const secret of ['key-a', 'wrong-key', 'engine-secret', 'admin-token', 'prompt-text', keys[0]!.sha256])
      expect(shown).not.toContain(secret);
  });
});

describe('admin paths', () => {
  const paths = ['/programs', '/programs/p', '/engines', '/engines/e', '/queue', '/config', '/metrics'];

  it('are open on a loopback listener without keys, and on a listener of their own', async () => {
    const engine = await fakeEngine();
    const shared = await world([engine]);
    expect(shared.adminUrl).toBe(shared.url);
    expect((await shared.ask('/queue')).status).toBe(200);
    const own = await world([engine], { admin: { port: 0 }, auth: { keys } });
    expect(own.adminUrl).not.toBe(own.url);
    expect((await own.admin('/queue')).status).toBe(200);
    for (const path of paths) expect((await own.ask(path, { headers: bearer('a') })).status).toBe(404);
    for (const at of [own.url, own.adminUrl]) {
      expect((await ask(`${at}/healthz`)).status).toBe(200);
      expect((await ask(`${at}/readyz`)).status).toBe(200);
    }
    expect((await chat(own.adminUrl)).status).toBe(404);
  });

  it('are closed on a shared listener with keys or beyond loopback, unless there is a token', async () => {
    const engine = await fakeEngine();
    for (const overrides of [{ auth: { keys } }, { listen: { host: '0.0.0.0', port: 0 } }]) {
      const { url } = await world([engine], overrides);
      for (const path of paths) {
        expect(refusal(await ask(`${url}${path}`, { headers: bearer('a') }))).toEqual([403, 'forbidden']);
      }
      expect((await ask(`${url}/healthz`)).status).toBe(200);
    }
    const { url } = await world([engine], { auth: { keys }, admin: { token: 'admin-token' } });
    for (const headers of [{}, bearer('a'), token('wrong')]) {
      expect(refusal(await ask(`${url}/queue`, { headers }))).toEqual([401, 'unauthorized']);
    }
    expect((await ask(`${url}/queue`, { headers: token('admin-token') })).status).toBe(200);
  });

  it('list programs by page and order', async () => {
    const { chat, ask, read } = await lone();
    for (const name of ['p1', 'p2', 'p3', 'p1', 'p1', 'p3']) await chat({}, named(name));
    const list = async (query: string) => {
      const { total, programs } = await read<ProgramPage>(`/programs${query}`);
      expect(total).toBe(3);
      return programs.map(({ id }) => id);
    };
    expect(await list('')).toEqual(['p1', 'p2', 'p3']);
    expect(await list('?limit=1&offset=1')).toEqual(['p2']);
    expect(await list('?sort=calls')).toEqual(['p2', 'p3', 'p1']);
    expect(await list('?sort=-calls&limit=2')).toEqual(['p1', 'p3']);
    expect(await list('?offset=9')).toEqual([]);
    for (const query of 'limit=0 limit=x limit=1001 limit=1.5 offset= sort=nothing what=1 sort=constructor'.split(
      ' ',
    )) {
      const got = await ask(`/programs?${query}`);
      expect([query, got.status, errorCode(got.text)]).toEqual([query, 400, 'bad_request']);
    }
  });

  it('tell who uses the gateway, by tenant, model, agent type or source of id', async () => {
    const { engine, open, chat, openChat, ask, read } = await held(ONE_AT_A_TIME);
    const calls = [openChat({}, { ...named('p1'), 'x-maitred-workflow': 'fix' })];
    await until(() => engine.seen.length === 1);
    calls.push(openChat({}, { ...named('p2'), 'x-maitred-workflow': 'fix' }));
    const system = { role: 'system', content: 'Be brief. '.repeat(100) };
    calls.push(openChat({ messages: [system, { role: 'user', content: 'hello' }] }, named('p3')));
    await until(async () => ((await ask('/queue')).json() as { waiting: number }).waiting === 2);
    const groups = async (query: string) => (await read<ProgramGroups>(`/programs?${query}`)).groups;
    const [fix, other] = await groups('by=agent_type');
    expect([fix, other]).toMatchObject([
      { name: 'fix', programs: 2, waiting: 1, running: 1 },
      { name: expect.stringMatching(/^[0-9a-f]{8}$/) as string, programs: 1, waiting: 1, running: 0 },
    ]);
    expect(fix!.current_wait_seconds).toBeGreaterThan(0);
    expect(await groups('by=tenant')).toMatchObject([{ name: 'default', programs: 3, waiting: 2, running: 1 }]);
    expect(await groups(`by=model&agent_type=fix&state=waiting`)).toMatchObject([{ name: MODEL, programs: 1 }]);
    expect(await groups('by=identified_by')).toMatchObject([{ name: 'x-maitred-program', programs: 3 }]);
    const second = (await ask('/programs?by=agent_type&limit=1&offset=1')).json();
    expect(second).toMatchObject({ total: 2, groups: [{ name: other!.name }] });
    // What was grouped can be selected.
    const found = async (query: string) => (await read<ProgramPage>(`/programs?${query}`)).programs.map(({ id }) => id);
    expect(await found('agent_type=fix')).toEqual(['p1', 'p2']);
    expect(await found(`agent_type=${other!.name}&model=${MODEL}`)).toEqual(['p3']);
    for (const query of ['model=other', 'identified_by=none']) expect(await found(query)).toEqual([]);
    for (const query of ['by=', 'by=engine', 'by=model&sort=calls'])
      expect([query, errorCode((await ask(`/programs?${query}`)).text)]).toEqual([query, 'bad_request']);
    open();
    await Promise.all(calls);
    await chat({}, named('p1'));
    expect(await groups('by=tenant&text=p1')).toMatchObject([
      { programs: 1, waiting: 0, running: 0, current_wait_seconds: 0 },
    ]);
  });

  it('show a program with its calls, and end it', async () => {
    const { engine, open, url, openChat } = await held();
    const call = openChat({}, { 'x-maitred-program': 'a/b c', 'x-maitred-thread': 't' });
    await until(() => engine.seen.length === 1);
    const at = `${url}/programs/${encodeURIComponent('a/b c')}`;
    expect((await ask(at)).json()).toMatchObject({
      id: 'a/b c',
      tenant: 'default',
      level: 0,
      active_calls: 1,
      calls: 1,
      engine: engine.id,
      threads: [{ thread: 't', calls: 1 }],
      active: [{ thread: 't', state: 'running', engine: engine.id, model: 'm' }],
    });
    expect((await ask(`${at}/end`, { method: 'POST' })).status).toBe(200);
    expect((await ask(at)).json()).toMatchObject({ ending: 'ended', active_calls: 1 });
    open();
    expect((await call).statusCode).toBe(200);
    await expect.poll(async () => (await ask(at)).status).toBe(404);
    expect(refusal(await ask(`${url}/programs/nobody/end`, { method: 'POST' }))).toEqual([404, 'unknown_program']);
    expect((await ask(`${url}/programs/batch_job/end`, { method: 'POST' })).text).toContain('No program');
    const batch = `batch_${'a0'.repeat(12)}`;
    expect((await ask(`${url}/programs/${batch}/end`, { method: 'POST' })).text).toContain(`No batch \\"${batch}\\"`);
  });

  it('return a drained engine to service, but none that is being removed', async () => {
    const { engine, open, url, chat } = await held();
    const at = `${url}/engines/${encodeURIComponent(engine.id)}`;
    const tell = async (verb: string) => (await ask(`${at}/${verb}`, { method: 'POST' })).json();
    const call = chat();
    await until(() => engine.seen.length === 1);
    expect(await tell('drain')).toMatchObject({ error: { code: 'last_engine' } });
    expect(await tell('drain?force')).toMatchObject({ state: 'draining' });
    expect(await tell('undrain')).toMatchObject({ state: 'starting' });
    await ask(`${at}?force`, { method: 'DELETE' });
    expect(await tell('undrain')).toMatchObject({ error: { code: 'unknown_engine' } });
    open();
    expect((await call).status).toBe(200);
  });

  it('show, add, drain and remove engines, and log who changed what', async () => {
    const first = await fakeEngine();
    const second = await fakeEngine();
    const { url, post, chat, logs } = await world([first]);
    const rows = async () =>
      ((await ask(`${url}/engines`)).json() as { engines: { id: string; state: string }[] }).engines;
    expect(await rows()).toMatchObject([
      { id: first.id, state: 'up', in_flight: 0, working_set_tokens: 0, capacity_tokens: null, models: ['m'] },
    ]);
    expect((await rows())[0]).toHaveProperty('window');
    const add = (body: object) => post('/engines', body);
    expect((await add({ url: second.url, kind: 'openai' })).status).toBe(201);
    await until(async () => (await rows()).every(({ state }) => state === 'up'));
    for (const [body, status, code] of [
      [{ url: second.url }, 409, 'engine_exists'],
      [{ url: 'ftp://x' }, 400, 'invalid_body'],
      [{ url: second.url, wrong: 1 }, 400, 'invalid_body'],
      [{ url: second.url, apiKey: 'env:HOME' }, 400, 'invalid_body'],
      [{}, 400, 'invalid_body'],
      [{ url }, 422, 'not_an_engine'],
      [{ url: url.replace('127.0.0.1', 'localhost') }, 422, 'not_an_engine'],
    ] as const) {
      expect(refusal(await add(body))).toEqual([status, code]);
    }
    // One ingress may serve both.
    const behind = (path: string) => post('/engines', { id: 'behind', url: second.url + path }, { host: second.id });
    expect([(await behind('/v1')).status, (await behind('/gpu')).status, (await behind('/gpu')).status]).toEqual([
      409, 201, 409,
    ]);
    await ask(`${url}/engines/behind`, { method: 'DELETE' });
    const missing = (await add({})).json()['error'];
    const wrong = (await add({ url: 5 })).json()['error'];
    expect(missing).toMatchObject({ param: 'url', message: "'url' is missing." });
    expect(wrong).toMatchObject({ param: 'url', message: "'url' must be text: put it in quotes." });
    const at = `${url}/engines/${encodeURIComponent(first.id)}`;
    expect((await ask(`${at}/drain`, { method: 'POST' })).json()).toMatchObject({ state: 'drained' });
    expect((await chat()).headers['x-maitred-engine']).toBe(second.id);
    expect((await ask(at, { method: 'DELETE' })).status).toBe(200);
    expect((await rows()).map(({ id }) => id)).toEqual([second.id]);
    // Without keys, an operator who ends a program says so, and a client does not.
    for (const query of ['', '?by=operator']) {
      await chat({}, { 'x-maitred-program': 'p' });
      expect((await ask(`${url}/programs/p/end${query}`, { method: 'POST' })).status).toBe(200);
    }
    const changes = logs.filter(({ msg }) => msg === 'changed by an operator');
    expect(changes.map(({ method, path }) => `${method as string} ${path as string}`)).toEqual([
      'POST /engines',
      'POST /engines',
      'DELETE /engines/behind',
      `POST ${at.slice(url.length)}/drain`,
      `DELETE ${at.slice(url.length)}`,
      'POST /programs/p/end',
    ]);
    for (const line of [`GET ${at}`, `DELETE ${at}`, `POST ${at}/drain`, `POST ${at}/undrain`]) {
      const [method = '', path = ''] = line.split(' ');
      expect(refusal(await ask(path, { method }))).toEqual([404, 'unknown_engine']);
    }
  });
});

describe('the ends of programs that other routers’ clients tell', () => {
  it('end no root when a sub-agent’s session is over', async () => {
    const { chat, post } = await lone();
    await chat({}, { 'x-maitred-program': 'child', 'x-maitred-parent': 'root' });
    const release = async (session_id: string) => (await post('/finish_session', { session_id })).json();
    expect(await release('child')).toMatchObject({ released: false });
    expect(await release('root')).toMatchObject({ released: true });
  });

  it('are understood, also twice, also of strangers', async () => {
    const { chat, post } = await lone();
    for (const [path, field] of [
      ['/programs/release', 'program_id'],
      ['/finish_session', 'session_id'],
    ] as const) {
      await chat({ [field]: 'p' });
      const tell = (body: object) => post(path, body);
      expect((await tell({ [field]: 'p' })).json()).toEqual({ [field]: 'p', released: true });
      expect((await tell({ [field]: 'p' })).json()).toEqual({ [field]: 'p', released: false });
      for (const wrong of [{}, { [field]: '' }, { [field]: [] }])
        expect(errorCode((await tell(wrong)).text)).toBe('invalid_body');
    }
  });
});
