import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { PastCallList, ProgramPage, TotalsAnswer } from '../../../sidecar/admin/answers.js';
import { pageRoutes } from '../../../sidecar/admin/page.js';
import type { Demo } from '../../../sidecar/context.js';
import { listen } from '../../../sidecar/http/listener.js';
import { VERSION } from '../../../sidecar/version.js';
import { folderOf } from '../../support/folder.js';
import { SHADOW, slower } from '../../support/shadow.js';
import {
  ask,
  keysOf,
  cleanUp,
  completion,
  configOf,
  gate,
  named,
  open,
  replies,
  stream,
  until,
  world,
  lone,
  held,
} from './world.js';

const CACHED = { usage: { prompt_tokens: 100, completion_tokens: 3, prompt_tokens_details: { cached_tokens: 25 } } };

describe('the admin API', () => {
  it('shows programs, calls, engines and totals', async () => {
    const held = gate();
    const settings = { id: 'e', window: 1, capacityTokens: 1000 };
    const { engine, chat, ask, waiting } = await lone(completion(CACHED), { engine: settings });
    expect((await chat({}, named('p'))).status).toBe(200);
    engine.answer = async (...all) => {
      await held.opened;
      await completion()(...all);
    };
    const calls = ['p', 'q'].map((program) => chat({}, named(program)));
    await until(async () => (await waiting()) === 1);
    const read = async (path: string, init = {}) => (await ask(path, init)).json();
    const post = { method: 'POST' };
    const waits = { programs: [{ id: 'q', active_calls: 1, current_wait_cause: 'window' }] };
    expect(await read('/programs?sort=-current_wait_seconds&state=waiting')).toMatchObject(waits);
    const words = expect.stringContaining(' for the window of ') as string;
    expect(await read('/programs/q')).toMatchObject({ active: [{ text: words }] });
    const sum = /^1 engine up\. 1 call runs, 1 waits for the window, the longest for \S+ m?s\.$/;
    const status = { level: 'good', title: '1 waiting', text: expect.stringMatching(sum) as string };
    expect(await read('/gateway')).toMatchObject({ status });
    expect(await read('/programs/p/calls')).toMatchObject({ calls: [{ cached_tokens: 25 }] });
    const full = { gate_tokens: 900, cached_share: 0.25, text: 'Its window is full.' };
    expect(await read('/engines/e')).toMatchObject(full);
    expect(await read('/totals')).toMatchObject({ cached_share: 0.25, queue_seconds: { count: 1 } });
    expect(await read('/history?range=1d')).toMatchObject({
      range: '1d',
      step_seconds: 1440,
      queue_seconds: { count: expect.arrayContaining([1]) as number[] },
      marks: [{ text: 'the gateway started' }],
    });
    expect((await ask('/history?range=2h')).json()).toMatchObject({ error: { param: 'range' } });
    expect((await ask('/')).headers['location']).toBe('/ui');
    expect(await read('/demo', post)).toMatchObject({ error: { code: 'unknown_path' } });
    expect(await read('/health')).toEqual(await read('/healthz'));
    expect(await read('/version')).toEqual({ version: VERSION });
    held.open();
    await Promise.all(calls);
    await read('/programs/p/end', post);
    expect(await read('/ended')).toMatchObject({
      programs: [{ id: 'p', cause: 'ended', calls: 2, model: 'm', identified_by: 'x-maitred-program', engine: 'e' }],
    });
    expect(await read('/engines/e/drain?force', post)).toMatchObject({ state: 'drained' });
    expect(await read('/engines/e/undrain', post)).toMatchObject({ state: 'starting' });
    await read('/engines/e/drain', post);
    await read('/engines/e', { method: 'DELETE' });
  });

  it('tells which calls were refused or failed, and warns of more than a few', async () => {
    const { engine, chat, ask, post } = await lone();
    for (let calls = 0; calls < 98; calls += 1) await chat();
    const state = async () => {
      const { text, ...status } = (await ask('/gateway')).json()['status'] as { text: string };
      return { ...status, text: text.replaceAll(engine.id, 'e').replace(/; the last one [\d.]+ m?s ago/g, '') };
    };
    expect((await ask('/v1/chat/compl')).status).toBe(404);
    expect((await post('/engines', '{}')).status).toBe(400);
    // No calls, whether they succeed or not.
    expect((await post('/login.php', '{}')).status).toBe(404);
    expect((await post('/v1/batches', '{}')).status).toBe(403);
    expect(await state()).toMatchObject({ level: 'good', text: '1 engine up. No call waits.' });
    engine.answer = (response) => void response.writeHead(400, { 'content-type': 'application/json' }).end('{}');
    await chat({}, named('p'));
    await post('/v1/chat/completions', '{', named('p'));
    const theirs =
      '2 of 100 calls failed by the client’s fault in the last 5 min: 1 with engine_400 (the last by program "p" on e), 1 with invalid_json (the last by program "p").';
    expect(await state()).toMatchObject({ level: 'good', title: '', text: `1 engine up. No call waits. ${theirs}` });
    const failed = [
      { code: 'engine_400', calls: 1, fault: 'client' },
      { code: 'invalid_json', calls: 1, fault: 'client', last: 'default:p' },
    ];
    expect((await ask('/totals')).json()).toMatchObject({ calls: 100, failed });
    engine.answer = (response) => void response.writeHead(404, { 'content-type': 'application/json' }).end('{}');
    for (let calls = 0; calls < 2; calls += 1) await chat({}, named('q'));
    expect(await state()).toMatchObject({
      level: 'warn',
      title: '2 of 102 calls failed',
      text: `1 engine up. No call waits. 2 of 102 calls failed in the last 5 min with engine_404 (the last by program "q" on e). ${theirs.replace('100', '102')}`,
    });
    const all = [{ code: 'engine_404', calls: 2, fault: 'service', last: 'default:q' }, ...failed];
    const totals = (await ask('/totals')).json() as unknown as TotalsAnswer;
    expect(totals).toMatchObject({ calls: 102, failed: all });
    expect(Math.abs(Date.now() / 1000 - (totals.failed[0]?.last_at ?? 0))).toBeLessThan(20);
    engine.answer = completion();
    for (let calls = 0; calls < 100; calls += 1) await chat();
    expect(await state()).toMatchObject({ level: 'good', title: '' });
    expect((await ask('/totals')).json()).toMatchObject({ calls: 202, failed: all });
  });

  it('shows the estimate against pass-through, if there is one', async () => {
    const { ask } = await lone(undefined, {}, { shadow: SHADOW });
    expect((await ask('/totals')).json()['shadow']).toEqual(SHADOW.latest());
    expect((await ask('/metrics')).text).toContain('maitred_shadow_gain_ratio{model="m",bound="mean"} 1.3\n');
    expect((await ask('/gateway')).json()['status']).toMatchObject({ level: 'good' });
    const off = await lone();
    expect((await off.ask('/totals')).json()['shadow']).toBeNull();
    // One that no calls have renewed warns of nothing present.
    const past = await lone(undefined, {}, { shadow: slower(1200) });
    expect((await past.ask('/gateway')).json()['status']).toMatchObject({ text: '1 engine up. No call waits.' });
  });

  it('selects programs by tenant, engine, state and text', async () => {
    const { chat, ask } = await lone();
    for (const name of ['Alpha', 'alphabet', 'beta']) await chat({}, named(name));
    const select = async (query: string) => {
      const { programs, total } = (await ask(`/programs?${query}`)).json() as unknown as ProgramPage;
      expect(total).toBe(programs.length);
      return programs.map(({ id }) => id);
    };
    expect(await select('text=ALPHA')).toEqual(['Alpha', 'alphabet']);
    expect(await select('state=idle&text=beta')).toEqual(['beta']);
    expect(await select('state=running')).toEqual([]);
    expect(await select('tenant=other')).toEqual([]);
    expect(await select('engine=other')).toEqual([]);
    expect((await ask('/programs?state=asleep')).status).toBe(400);
  });

  it('starts the demo fleet of a gateway that has one', async () => {
    let fleets = 0;
    const demo = { progress: undefined as Demo['progress'], start: () => (fleets += 1) };
    const { ask } = await world([], {}, { demo });
    const state = async () => (await ask('/gateway')).json();
    expect(await state()).toMatchObject({ demo: 'idle', demo_programs: null });
    demo.progress = { ended: 14, total: 80 };
    expect(await state()).toMatchObject({ demo: 'running', demo_programs: demo.progress });
    expect((await ask('/demo')).status).toBe(405);
    const foreign = { method: 'POST', headers: { origin: 'http://evil.example' } };
    expect((await ask('/demo', foreign)).status).toBe(403);
    expect([(await ask('/demo', { method: 'POST' })).status, fleets]).toEqual([202, 1]);
  });
});

describe('ended calls', () => {
  it('are remembered with their ends, the latest of each program, also after it has ended', async () => {
    const { engine, chat, ask } = await lone(stream(), { limits: { pastCalls: 3 } });
    await chat({ stream: true }, named('old'));
    await chat({ stream: true }, named('p'));
    engine.answer = replies(400, {});
    await chat({}, named('p'));
    await ask('/programs/p/end', { method: 'POST' });
    const callsOf = async (key: string) =>
      ((await ask(`/programs/${key}/calls`)).json() as unknown as PastCallList).calls;
    const [first, second] = await callsOf('default:p');
    expect(first).toMatchObject({ outcome: 'completed', status: 200, reason: 'direct', level: 0, attempts: 1 });
    expect(first?.first_token_seconds).toBeGreaterThanOrEqual(0);
    expect(second).toMatchObject({ outcome: 'client_error', status: 400, prompt_tokens: null });
    // The fourth call: the program that was idle longest is forgotten.
    for (let call = 0; call < 2; call += 1) await chat({}, named('p'));
    expect(await callsOf('default:p')).toHaveLength(3);
    expect(await callsOf('old')).toEqual([]);
  });

  it('include those that were refused', async () => {
    const { open, chat, ask, waiting } = await held({ engine: { window: 1 }, limits: { queuedMax: 1 } });
    const calls = [chat({}, named('a')), chat({}, named('b'))];
    await until(async () => (await waiting()) === 1);
    expect((await chat({}, named('c'))).status).toBe(429);
    const got = (await ask('/programs/default:c/calls')).json();
    expect(got).toMatchObject({ calls: [{ outcome: 'refused', status: 429, code: 'queue_full', engine: null }] });
    open();
    await Promise.all(calls);
  });
});

describe('/stream', () => {
  it('sends all at once, then only what has changed, and ends with the gateway', async () => {
    const { gateway, chat, watch } = await lone(stream());
    const seen = await watch('program=default:p&limit=1');
    await until(() => seen.last['calls'] !== undefined);
    expect(seen.last).toMatchObject({
      gateway: { api: 3, draining: false },
      engines: { engines: [{ state: 'up' }] },
      queue: { waiting: 0 },
      totals: { queue_seconds: { count: 0 } },
      programs: { total: 0, limit: 1 },
      program: null,
      calls: { calls: [] },
    });
    const queues = seen.counts['queue'];
    await chat({ stream: true }, named('p'));
    await until(() => (seen.last['calls'] as { calls: unknown[] }).calls.length === 1);
    expect(seen.last).toMatchObject({ program: { id: 'p' }, programs: { total: 1 } });
    expect([seen.counts['gateway'], seen.counts['queue']]).toEqual([1, queues]);
    await gateway.close();
    await until(() => seen.over());
  });

  it('tells of the ended programs that its filters choose', async () => {
    const { chat, ask, watch } = await lone();
    for (const name of ['alpha', 'beta']) {
      await chat({}, named(name));
      await ask(`/programs/${name}/end`, { method: 'POST' });
    }
    for (const [filter, ids] of [
      ['', ['beta', 'alpha']],
      ['text=ALPHA&', ['alpha']],
      ['state=idle&', []],
    ] as const) {
      const seen = await watch(`${filter}ended=`);
      await until(() => seen.last['ended'] !== undefined);
      expect(seen.last['ended']).toMatchObject({ programs: ids.map((id) => ({ id })) });
    }
  });

  it('is guarded and bounded, and ends for clients with an old token', async () => {
    const { url, gateway, ask } = await world([], { admin: { token: 'admin-token' }, limits: { watchersMax: 1 } });
    expect((await ask('/stream')).status).toBe(401);
    const headers = { authorization: 'Bearer admin-token' };
    expect((await ask('/stream?limit=0', { headers })).status).toBe(400);
    const response = await open(`${url}/stream`, { headers });
    expect((await ask('/stream', { headers })).status).toBe(503);
    expect((await ask('/stream', { headers, method: 'HEAD' })).status).toBe(503);
    // Calls find room: no alert may count this.
    expect((await ask('/metrics', { headers })).text).not.toMatch(/rejected_total\{code="overloaded"\} [1-9]/);
    gateway.reload(configOf([], { admin: { token: 'other-token' } }));
    await response.body.text();
    expect((await ask('/stream', { headers })).status).toBe(401);
  });
});

it('/stream ends where a reload closes the admin paths', async () => {
  const { gateway, ask, watch } = await world([]);
  const { over } = await watch('');
  gateway.reload(configOf([], { auth: { keys: keysOf('a') } }));
  await until(over);
  expect((await ask('/stream')).status).toBe(403);
});

describe('/ui', () => {
  it('serves a built page, without a token, and nothing else of its folder', async () => {
    const folder = folderOf({});
    const routes = pageRoutes(folder);
    const listener = await listen(configOf([]), { host: '127.0.0.1', port: 0 }, routes, () => undefined);
    cleanUp(() => listener.close());
    const named = await ask(`${listener.url}/ui/programs/a%2Fb`);
    expect([named.status, named.headers['location']]).toEqual([302, '/ui?program=a%2Fb']);
    const missing = await ask(`${listener.url}/ui`);
    expect([missing.status, missing.headers['content-type']]).toEqual([404, 'text/plain; charset=utf-8']);
    expect(missing.text).toContain('npm run build');
    mkdirSync(join(folder, 'assets'));
    for (const name of ['index.html', 'secret.js', 'assets/a-1.js', 'assets/notes.txt'])
      writeFileSync(join(folder, name), name);
    const page = await ask(`${listener.url}/ui`);
    expect([page.status, page.text, page.headers['cache-control']]).toEqual([200, 'index.html', 'no-store']);
    expect(page.headers['content-security-policy']).toMatch(/^default-src 'none'; script-src 'self';/);
    expect(page.headers['content-security-policy']).not.toContain('unsafe');
    const script = await ask(`${listener.url}/ui/assets/a-1.js`, { headers: { 'accept-encoding': 'gzip' } });
    expect(script.headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'content-encoding': 'gzip',
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
    });
    for (const path of ['assets/notes.txt', 'assets/..%2fsecret.js', 'assets/b.js', 'secret.js'])
      expect([path, (await ask(`${listener.url}/ui/${path}`)).status]).toEqual([path, 404]);
  });
});
