import { describe, expect } from 'vitest';
import type { EndedPrograms } from '../../../sidecar/admin/answers.js';
import {
  completion,
  gate,
  until,
  lone,
  bearer,
  configOf,
  fakeEngine,
  heldEngine,
  keysOf,
  named,
  world,
  it,
} from './world.js';

describe('metrics', () => {
  it('tell of programs, levels, tokens and engines, under bounded labels', async () => {
    const { engine, chat, metrics } = await lone(
      completion({ usage: { prompt_tokens: 10, completion_tokens: 4, prompt_tokens_details: { cached_tokens: 6 } } }),
    );
    for (let i = 0; i < 3; i++) await chat({}, { 'x-maitred-program': `secret-${i}`, 'x-maitred-final': 'true' });
    await until(async () => (await metrics()).get('maitred_programs_ended_total{cause="ended"}') === 3);
    const counted = await metrics();
    expect(Object.fromEntries(counted)).toMatchObject({
      maitred_calls_accepted_total: 3,
      'maitred_calls_ended_total{outcome="completed"}': 3,
      maitred_prompt_tokens_total: 30,
      maitred_prompt_tokens_cached_total: 18,
      maitred_output_tokens_total: 12,
      maitred_program_completion_seconds_count: 3,
      'maitred_queue_seconds_count{level="0"}': 3,
      maitred_service_seconds_count: 3,
      maitred_call_seconds_count: 3,
      maitred_starvation_promotions_total: 0,
      [`maitred_engine_in_flight_calls{engine="${engine.id}"}`]: 0,
      [`maitred_engine_up{engine="${engine.id}"}`]: 1,
    });
    // docs/METRICS.md, held by a test of its own, lists the labels. None has a value from a client.
    expect([...counted.keys()].join()).not.toMatch(/secret/);
  });

  it('tell programs apart whose last call was not answered', async () => {
    const held = gate();
    const { engine, chat, ask, metrics, read } = await lone(async (response) => {
      await held.opened;
      response.writeHead(400, { 'content-type': 'application/json' }).end('{}');
    });
    // An operator ends the program before its last call, and its client another one with it.
    const calls = [chat({}, named('a')), chat({}, { ...named('b'), 'x-maitred-final': 'true' })];
    await until(() => engine.seen.length === 2);
    await ask('/programs/a/end?by=operator', { method: 'POST' });
    held.open();
    await Promise.all(calls);
    engine.answer = completion();
    await chat({}, { ...named('c'), 'x-maitred-final': 'true' });
    expect(await read('/totals')).toMatchObject({ programs_unanswered: 2, program_completion_seconds: { count: 1 } });
    const { programs } = await read<EndedPrograms>('/ended');
    expect(programs.filter(({ answered }) => !answered).map(({ id }) => id)).toEqual(['b', 'a']);
    await until(async () => (await metrics()).get('maitred_programs_unanswered_total') === 2);
    expect((await metrics()).get('maitred_program_completion_seconds_count')).toBe(1);
  });

  it('remember nothing of engines that have gone', async ({ one: { engine, url, chat, metrics } }) => {
    await chat();
    const series = async () => [...(await metrics()).keys()].filter((name) => name.includes(engine.id));
    expect(await series()).not.toEqual([]);
    await fetch(`${url}/engines/${encodeURIComponent(engine.id)}?force`, { method: 'DELETE' });
    expect(await series()).toEqual([]);
  });
});

const KEYS = keysOf('heavy', 'light');
const by = (tenant: string, headers = {}) => ({ ...bearer(tenant), ...headers });

/** A gateway with two tenants. */
const sharing = (engine: Awaited<ReturnType<typeof fakeEngine>>, overrides: Record<string, unknown> = {}) =>
  world([engine], { auth: { keys: KEYS }, admin: { port: 0 }, policy: { tenants: 'weighted' }, ...overrides });

describe('a tenant over its share', () => {
  it('waits behind others, and is told so', async () => {
    const { engine, open } = await heldEngine();
    const overrides = { policy: { tenants: 'weighted', tenantWeights: { light: 3 } }, admission: { window: 1 } };
    const { chat, waiting, admin, metrics } = await sharing(engine, overrides);
    const calls = [chat({ seed: 0 }, by('heavy', named('h')))];
    await until(() => engine.seen.length === 1);
    calls.push(chat({ seed: 1 }, by('heavy', named('i'))));
    await until(async () => (await waiting()) === 1);
    calls.push(chat({ seed: 2 }, by('light', named('l'))));
    await until(async () => (await waiting()) === 2);
    const explained = async (program: string) =>
      (await admin(`/programs/${program}/explain`)).json() as { text: string };
    const heavy = await explained('i');
    expect(heavy.text).toContain('Its tenant "heavy" is over its share: it has had 100 % of the engine time');
    expect(heavy.text).toContain('1 call is ahead of it');
    expect((await explained('l')).text).not.toContain('share');
    const counted = await metrics();
    expect(counted.get('maitred_tenant_attained_share{tenant="heavy"}')).toBe(1);
    expect(counted.get('maitred_tenant_waiting_calls{tenant="light"}')).toBe(1);
    expect(counted.get('maitred_tenant_due_share{tenant="light"}')).toBe(0.75);
    open();
    await Promise.all(calls);
    const seeds = engine.seen.map(({ body }) => (JSON.parse(String(body)) as { seed: number }).seed);
    expect(seeds).toEqual([0, 2, 1]);
  });

  it('is none by default: no shares, and the earlier call goes first', async () => {
    const { chat, admin } = await sharing(await fakeEngine(completion()), { policy: {} });
    await chat({}, by('light'));
    expect((await admin('/metrics')).text).not.toContain('maitred_tenant_due_share{');
  });

  it('cannot be weighed by a mistyped name', () => {
    const policy = { tenantWeights: { hevy: 2 } };
    expect(() => configOf([], { auth: { keys: KEYS }, policy })).toThrow(/no key in auth.keys/);
  });
});
