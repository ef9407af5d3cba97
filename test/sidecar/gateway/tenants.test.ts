import { describe, expect, it } from 'vitest';
import {
  bearer,
  ask,
  chat,
  completion,
  configOf,
  fakeEngine,
  heldEngine,
  keysOf,
  named,
  post,
  recording,
  refusal,
  until,
  waiting,
  world,
} from './world.js';

const KEYS = keysOf('heavy', 'light');
const by = (tenant: string, headers = {}) => ({ ...bearer(tenant), ...headers });

/** A gateway with two tenants, its event log, and the deadlines in it, in milliseconds from their events. */
async function sharing(engine: Awaited<ReturnType<typeof fakeEngine>>, overrides: Record<string, unknown> = {}) {
  const { steps, recorder } = recording();
  const deadlines = () =>
    steps.flatMap(({ event, now }) =>
      event.type === 'callArrived' || event.type === 'programHinted'
        ? [event.deadlineAtMs === undefined ? undefined : event.deadlineAtMs - now]
        : [],
    );
  const config = { auth: { keys: KEYS }, admin: { port: 0 }, policy: { tenants: 'weighted' }, ...overrides };
  return { ...(await world([engine], config, { recorder })), deadlines };
}

const metric = (text: string, name: string): number => Number(new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1]);

describe('a deadline', () => {
  it('is declared by a header or a field, as seconds or as a time, and by a hint', async () => {
    const engine = await fakeEngine();
    const { url, deadlines } = await sharing(engine);
    expect((await chat(url, {}, by('light'))).status).toBe(200);
    const inAnHour = new Date(Date.now() + 3_600_000).toISOString();
    await chat(url, {}, by('light', { 'x-maitred-deadline': '90' }));
    await chat(url, {}, by('light', { 'x-maitred-deadline': '1.5' }));
    await chat(url, {}, by('light', { 'x-maitred-deadline': inAnHour }));
    await chat(url, { maitred: { deadline: 5 } }, by('light', { 'x-maitred-deadline': '90' }));
    await chat(url, { maitred: { deadline: inAnHour.replace('Z', '+00:00') } }, by('light', named('p')));
    await chat(url, {}, by('light'));
    const got = await post(`${url}/programs/p/hint`, '{"deadline": 7}', by('light'));
    expect(got.json()).toMatchObject({ hinted: true, used: false });
    // A time of day comes nearer until the gateway reads it, and a little time passes until the event.
    const declared = deadlines().map((ms) => ms && (ms > 3_000_000 ? 3600 : Math.round(ms / 500) / 2));
    expect(declared).toEqual([undefined, 90, 1.5, 3600, 5, 3600, undefined, 7]);
    expect(engine.seen.map(({ body }) => String(body)).join()).not.toContain('maitred');
  });

  it('is refused where it is malformed, with the field or header to change', async () => {
    const engine = await fakeEngine();
    const { url, deadlines } = await sharing(engine);
    for (const text of ['', '-1', 'soon', '2026-11-22', '2026-13-01T00:00:00Z', '2999-01-01T00:00:00Z']) {
      const { status, text: body } = await chat(url, {}, by('light', { 'x-maitred-deadline': text }));
      expect([text, status, body]).toEqual([text, 400, expect.stringContaining('"param":"x-maitred-deadline"')]);
    }
    for (const deadline of [-1, '5', 'soon', null, 1e9, {}]) {
      const { status, text } = await chat(url, { maitred: { deadline } }, by('light'));
      expect([deadline, status, text]).toEqual([deadline, 400, expect.stringContaining('"param":"maitred.deadline"')]);
    }
    await chat(url, {}, by('light', named('p')));
    expect(refusal(await post(`${url}/programs/p/hint`, '{"deadline": -1}', by('light')))).toEqual([
      400,
      'invalid_body',
    ]);
    expect(deadlines()).toEqual([undefined]);
  });

  it('is met or missed, by tenant', async () => {
    const { url, adminUrl } = await sharing(await fakeEngine());
    for (const [program, deadline] of [
      ['a', '60'],
      ['b', '0'],
      ['c', '60'],
    ] as const) {
      await chat(url, {}, by('light', { 'x-maitred-program': program, 'x-maitred-deadline': deadline }));
      await ask(`${url}/programs/${program}/end`, { method: 'POST', headers: by('light') });
    }
    const { text } = await ask(`${adminUrl}/metrics`);
    expect(metric(text, 'maitred_tenant_deadlines_total{tenant="light",outcome="met"}')).toBe(2);
    expect(metric(text, 'maitred_tenant_deadlines_total{tenant="light",outcome="missed"}')).toBe(1);
  });
});

describe('a tenant over its share', () => {
  it('waits behind others, and is told so', async () => {
    const { engine, open } = await heldEngine();
    const overrides = { policy: { tenants: 'weighted', tenantWeights: { light: 3 } }, admission: { window: 1 } };
    const { url, adminUrl } = await sharing(engine, overrides);
    const calls = [chat(url, { seed: 0 }, by('heavy', named('h')))];
    await until(() => engine.seen.length === 1);
    calls.push(chat(url, { seed: 1 }, by('heavy', named('i'))));
    await until(async () => (await waiting(adminUrl)) === 1);
    calls.push(chat(url, { seed: 2 }, by('light', named('l'))));
    await until(async () => (await waiting(adminUrl)) === 2);
    const { division, tenants } = (await ask(`${adminUrl}/tenants`)).json() as { division: string; tenants: object[] };
    expect(division).toBe('weighted');
    expect(tenants).toEqual([
      { tenant: 'heavy', weight: 1, waiting: 1, in_flight: 1, attained_share: 1, due_share: 0.25 },
      { tenant: 'light', weight: 3, waiting: 1, in_flight: 0, attained_share: 0, due_share: 0.75 },
    ]);
    const explained = async (program: string) =>
      (await ask(`${adminUrl}/programs/${program}/explain`)).json() as {
        text: string;
        calls: { tenant_share: object }[];
      };
    const heavy = await explained('i');
    expect(heavy.text).toContain('Its tenant "heavy" is over its share: it has had 100 % of the engine time');
    expect(heavy.text).toContain('1 call is ahead of it');
    expect(heavy.calls[0]?.tenant_share).toMatchObject({ tenant: 'heavy', attained_share: 1, due_share: 0.25 });
    expect((await explained('l')).text).not.toContain('share');
    const { text } = await ask(`${adminUrl}/metrics`);
    expect(metric(text, 'maitred_tenant_attained_share{tenant="heavy"}')).toBe(1);
    expect(metric(text, 'maitred_tenant_due_share{tenant="light"}')).toBe(0.75);
    open();
    await Promise.all(calls);
    const seeds = engine.seen.map(({ body }) => (JSON.parse(String(body)) as { seed: number }).seed);
    expect(seeds).toEqual([0, 2, 1]);
  });

  it('is none by default: no shares, and the earlier call goes first', async () => {
    const { url, adminUrl } = await sharing(await fakeEngine(completion()), { policy: {} });
    await chat(url, {}, by('light'));
    expect((await ask(`${adminUrl}/tenants`)).json()).toEqual({ division: 'none', tenants: [] });
    expect((await ask(`${adminUrl}/metrics`)).text).not.toContain('maitred_tenant_due_share{');
  });

  it('cannot be weighed by a mistyped name', () => {
    const policy = { tenantWeights: { hevy: 2 } };
    expect(() => configOf([], { auth: { keys: KEYS }, policy })).toThrow(/no key in auth.keys/);
  });
});
