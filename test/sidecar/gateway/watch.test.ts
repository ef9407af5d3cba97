import { createParser } from 'eventsource-parser';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { adminRoutes } from '../../../sidecar/admin/admin.js';
import { programRoutes } from '../../../sidecar/admin/program-routes.js';
import * as answers from '../../../sidecar/admin/answers.js';
import { openApi } from '../../../sidecar/admin/openapi.js';
import { pageRoutes } from '../../../sidecar/admin/page.js';
import type { Context, Demo } from '../../../sidecar/context.js';
import { listen } from '../../../sidecar/http/listener.js';
import { familyOf } from '../../../sidecar/apis/index.js';
import { folderOf } from '../../support/folder.js';
import { SHADOW } from '../../support/shadow.js';
import { ROOT } from '../../support/tree.js';
import {
  JSON_TYPE,
  ask,
  chat,
  cleanUp,
  completion,
  configOf,
  fakeEngine,
  gate,
  heldEngine,
  named,
  open,
  stream,
  until,
  world,
} from './world.js';

const CACHED = { usage: { prompt_tokens: 100, completion_tokens: 3, prompt_tokens_details: { cached_tokens: 25 } } };

/** What a client of `/stream` has received so far: the last of each section, and how many of each came. */
async function watch(url: string) {
  const response = await open(url);
  const last: Record<string, unknown> = {};
  const counts: Record<string, number> = {};
  let isOver = false;
  const parser = createParser({
    onEvent: ({ event = '', data }) => {
      last[event] = JSON.parse(data);
      counts[event] = (counts[event] ?? 0) + 1;
    },
  });
  response.body.on('data', (chunk: Buffer) => parser.feed(chunk.toString()));
  for (const end of ['end', 'close', 'error']) response.body.on(end, () => (isOver = true));
  cleanUp(() => Promise.resolve(response.body.destroy()));
  return { response, last, counts, over: () => isOver };
}

describe('the admin API', () => {
  it('is described in docs/openapi.yaml (npm run docs writes it anew)', async () => {
    const text = `# Generated from sidecar/admin/openapi.ts by \`npm run docs\`.\n${stringify(JSON.parse(JSON.stringify(openApi())), { lineWidth: 120, aliasDuplicateObjects: false })}`;
    await expect(text).toMatchFileSnapshot(`${ROOT}docs/openapi.yaml`);
  });

  it('has every path and method in its description, and no other', () => {
    const context = {} as Context;
    const routes = { ...adminRoutes(context), ...programRoutes(context, true) };
    const served = Object.entries(routes).map(([path, handlers]) => [
      path.replace(/:(\w+)/g, '{$1}').replace('*', '{path}'),
      Object.keys(handlers).map((method) => method.toLowerCase()),
    ]);
    const { paths } = openApi() as { paths: Record<string, object> };
    const described = Object.entries(paths).map(([path, methods]) => [path, Object.keys(methods)]);
    expect(described.toSorted()).toEqual(served.toSorted());
  });

  it('answers as described', async () => {
    const held = gate();
    const engine = await fakeEngine(completion(CACHED));
    const { url } = await world([engine], {
      engines: [{ url: engine.url, kind: 'openai', id: 'e', window: 1, capacityTokens: 1000 }],
      admin: { enginePaths: ['/v1/x'] },
      // The first test of a file on a busy machine.
      health: { timeoutMs: 30_000 },
    });
    expect((await chat(url, {}, named('p'))).status).toBe(200);
    engine.answer = async (...all) => {
      await held.opened;
      await completion()(...all);
    };
    const calls = ['p', 'q'].map((program) => chat(url, {}, named(program)));
    await until(async () => (await ask(`${url}/queue`)).json()['waiting'] === 1);
    const check = async (schema: z.ZodType, path: string, init = {}) => {
      const got = await ask(`${url}${path}`, init);
      expect([path, schema.safeParse(got.json()).error]).toEqual([path, undefined]);
      return got.json();
    };
    const post = { method: 'POST' };
    expect(await check(answers.programPage, '/programs?sort=-current_wait_seconds&state=waiting')).toMatchObject({
      programs: [{ id: 'q', active_calls: 1, current_wait_cause: 'window' }],
    });
    expect(await check(answers.programDetail, '/programs/q')).toMatchObject({
      threads: [{ active: [{ text: expect.stringContaining('It waits for the window') as string }] }],
    });
    expect(await check(answers.pastCalls, '/programs/p/calls')).toMatchObject({ calls: [{ cached_tokens: 25 }] });
    await check(answers.engineList, '/engines');
    expect(await check(answers.engine, '/engines/e')).toMatchObject({ gate_tokens: 900, cached_share: 0.25 });
    await check(answers.queue, '/queue');
    expect(await check(answers.totals, '/totals')).toMatchObject({ cached_share: 0.25, queue_seconds: { count: 1 } });
    expect(await check(answers.history, '/history?range=1d')).toMatchObject({
      range: '1d',
      step_seconds: 1440,
      queue_seconds: { count: expect.arrayContaining([1]) as number[] },
      marks: [{ text: 'started' }],
    });
    await check(answers.history, '/history');
    expect((await ask(`${url}/history?range=2h`)).json()).toMatchObject({ error: { param: 'range' } });
    await check(answers.gatewayState, '/gateway');
    await check(answers.alive, '/healthz');
    await check(answers.alive, '/health');
    await check(answers.version, '/version');
    expect((await ask(`${url}/`)).headers['location']).toBe('/ui');
    await check(answers.ready, '/readyz');
    await check(answers.error, '/programs/unknown');
    await check(answers.error, '/demo', post);
    held.open();
    await Promise.all(calls);
    await check(answers.everyEngine, '/every-engine/v1/x', {
      body: '{}',
      headers: { 'content-type': 'application/json' },
    });
    const hint = { headers: JSON_TYPE, body: '{"remaining":{"promptTokens":1,"outputTokens":2}}' };
    await check(answers.hinted, '/programs/p/hint', hint);
    await check(answers.ended, '/programs/p/end', post);
    expect(await check(answers.endedPrograms, '/ended')).toMatchObject({
      programs: [{ id: 'p', cause: 'ended', calls: 2, model: 'm', identified_by: 'x-maitred-program', engine: 'e' }],
    });
    expect(await check(answers.engine, '/engines/e/drain', post)).toMatchObject({ state: 'draining' });
    expect(await check(answers.engine, '/engines/e/undrain', post)).toMatchObject({ state: 'joining' });
    await check(answers.engine, '/engines/e/drain', post);
    await check(answers.removed, '/engines/e', { method: 'DELETE' });
  });

  it('shows the estimate against pass-through, if there is one', async () => {
    const { url } = await world([await fakeEngine()], {}, { shadow: SHADOW });
    expect(answers.totals.parse((await ask(`${url}/totals`)).json()).shadow).toEqual(SHADOW.latest());
    expect((await ask(`${url}/metrics`)).text).toContain('maitred_shadow_gain_ratio{model="m",bound="mean"} 1.3\n');
    const off = await world([await fakeEngine()]);
    expect(answers.totals.parse((await ask(`${off.url}/totals`)).json()).shadow).toBeNull();
  });

  it('selects programs by tenant, engine, state and text', async () => {
    const engine = await fakeEngine();
    const { url } = await world([engine]);
    for (const name of ['Alpha', 'alphabet', 'beta']) await chat(url, {}, named(name));
    const select = async (query: string) => {
      const { programs, total } = answers.programPage.parse((await ask(`${url}/programs?${query}`)).json());
      expect(total).toBe(programs.length);
      return programs.map(({ id }) => id);
    };
    expect(await select('text=ALPHA')).toEqual(['Alpha', 'alphabet']);
    expect(await select('state=idle&text=beta')).toEqual(['beta']);
    expect(await select('state=running')).toEqual([]);
    expect(await select('tenant=other')).toEqual([]);
    expect(await select('engine=other')).toEqual([]);
    expect((await ask(`${url}/programs?state=asleep`)).status).toBe(400);
  });

  it('starts the demo fleet of a gateway that has one', async () => {
    let fleets = 0;
    const demo = { progress: undefined as Demo['progress'], start: () => (fleets += 1) };
    const { url } = await world([], {}, { demo });
    const state = async () => answers.gatewayState.parse((await ask(`${url}/gateway`)).json());
    expect(await state()).toMatchObject({ demo: 'idle', demo_programs: null });
    demo.progress = { ended: 14, total: 80 };
    expect(await state()).toMatchObject({ demo: 'running', demo_programs: demo.progress });
    expect((await ask(`${url}/demo`)).status).toBe(405);
    const foreign = { method: 'POST', headers: { origin: 'http://evil.example' } };
    expect((await ask(`${url}/demo`, foreign)).status).toBe(403);
    expect([(await ask(`${url}/demo`, { method: 'POST' })).status, fleets]).toEqual([202, 1]);
  });
});

describe('ended calls', () => {
  it('are remembered with their ends, the latest of each program, also after it has ended', async () => {
    const engine = await fakeEngine(stream());
    const { url } = await world([engine], { limits: { pastCalls: 3 } });
    await chat(url, { stream: true }, named('old'));
    await chat(url, { stream: true }, named('p'));
    engine.answer = (response) => {
      response.statusCode = 400;
      response.end('{}');
    };
    await chat(url, {}, named('p'));
    await ask(`${url}/programs/p/end`, { method: 'POST' });
    const callsOf = async (key: string) =>
      answers.pastCalls.parse((await ask(`${url}/programs/${key}/calls`)).json()).calls;
    const [first, second] = await callsOf('default:p');
    expect(first).toMatchObject({ outcome: 'completed', status: 200, reason: 'direct', level: 0, attempts: 1 });
    expect(first?.first_token_seconds).toBeGreaterThanOrEqual(0);
    expect(second).toMatchObject({ outcome: 'client_error', status: 400, prompt_tokens: null });
    // The fourth call: the program that was idle longest is forgotten.
    for (let call = 0; call < 2; call += 1) await chat(url, {}, named('p'));
    expect(await callsOf('default:p')).toHaveLength(3);
    expect(await callsOf('old')).toEqual([]);
  });

  it('include those that were refused', async () => {
    const { engine, open: openEngine } = await heldEngine();
    const { url } = await world([engine], {
      engines: [{ url: engine.url, kind: 'openai', window: 1 }],
      limits: { queuedMax: 1 },
      health: { timeoutMs: 30_000 },
    });
    const calls = [chat(url, {}, named('a')), chat(url, {}, named('b'))];
    await until(async () => (await ask(`${url}/queue`)).json()['waiting'] === 1);
    expect((await chat(url, {}, named('c'))).status).toBe(429);
    const got = (await ask(`${url}/programs/default:c/calls`)).json();
    expect(got).toMatchObject({ calls: [{ outcome: 'refused', status: 429, code: 'queue_full', engine: null }] });
    openEngine();
    await Promise.all(calls);
  });
});

describe('/stream', () => {
  it('sends all at once, then only what has changed, and ends with the gateway', async () => {
    const { url, gateway } = await world([await fakeEngine(stream())]);
    const seen = await watch(`${url}/stream?program=default:p&limit=1`);
    await until(() => seen.last['calls'] !== undefined);
    expect(seen.last).toMatchObject({
      gateway: { api: 1, draining: false },
      engines: { engines: [{ state: 'up' }] },
      queue: { waiting: 0 },
      totals: { queue_seconds: { count: 0 } },
      programs: { total: 0, limit: 1 },
      program: null,
      calls: { calls: [] },
    });
    const engines = seen.counts['engines'];
    await chat(url, { stream: true }, named('p'));
    await until(() => (seen.last['calls'] as { calls: unknown[] }).calls.length === 1);
    expect(seen.last).toMatchObject({ program: { id: 'p' }, programs: { total: 1 } });
    expect([seen.counts['gateway'], seen.counts['engines']]).toEqual([1, engines]);
    await gateway.close();
    await until(() => seen.over());
  });

  it('is guarded and bounded, and ends for clients with an old token', async () => {
    const { url, gateway } = await world([], { admin: { token: 'admin-token' }, limits: { watchersMax: 1 } });
    expect((await ask(`${url}/stream`)).status).toBe(401);
    const headers = { authorization: 'Bearer admin-token' };
    expect((await ask(`${url}/stream?limit=0`, { headers })).status).toBe(400);
    const response = await open(`${url}/stream`, { headers });
    expect((await ask(`${url}/stream`, { headers })).status).toBe(503);
    expect((await ask(`${url}/stream`, { headers, method: 'HEAD' })).status).toBe(503);
    // Calls find room: no alert may count this.
    expect((await ask(`${url}/metrics`, { headers })).text).not.toMatch(/rejected_total\{code="overloaded"\} [1-9]/);
    gateway.reload(configOf([], { admin: { token: 'other-token' } }));
    await response.body.text();
    expect((await ask(`${url}/stream`, { headers })).status).toBe(401);
  });
});

it('/stream ends where a reload closes the admin paths', async () => {
  const { url, gateway } = await world([]);
  const { over } = await watch(`${url}/stream`);
  gateway.reload(configOf([], { auth: { keys: [{ sha256: 'a'.repeat(64), tenant: 'a' }] } }));
  await until(over);
  expect((await ask(`${url}/stream`)).status).toBe(403);
});

describe('/ui', () => {
  it('serves a built page, without a token, and nothing else of its folder', async () => {
    const folder = folderOf({});
    const routes = pageRoutes(folder);
    const ports = { apiFor: familyOf, refused: () => undefined };
    const listener = await listen(configOf([]), { host: '127.0.0.1', port: 0 }, routes, ports);
    cleanUp(() => listener.close());
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
