import { describe, expect, it } from 'vitest';
import { bearer, completion, configOf, fakeEngine, heldEngine, keysOf, named, until, world } from './world.js';

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
