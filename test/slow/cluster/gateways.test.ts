import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import {
  ask,
  bearer,
  chat,
  cleanUp,
  keysOf,
  metrics,
  MODEL,
  post,
  until,
  world,
  type World,
} from '../../sidecar/gateway/world.js';
import { noRedis, RedisServer } from '../../../processes/redis.js';
import { clusterOf, configOf, PATIENCE_MS, question, startEngines, withinWindows, type Counted } from './counted.js';

const GATEWAYS = 3;
const LEASE_MS = 1500;
/** Tokens of about this many characters make a prompt long, so that it binds its program to an engine. */
const LONG = 'word '.repeat(5000);
const AGENT = { 'x-maitred-program': 'agent' };

async function startStore(): Promise<RedisServer> {
  const server = await RedisServer.start();
  cleanUp(() => server.stop());
  return server;
}

async function startGateways(engines: readonly Counted[], more = {}): Promise<World[]> {
  const { path } = await startStore();
  const names = Array.from({ length: GATEWAYS }, (_, i) => `g${i}`);
  const gateways = await Promise.all(
    names.map((name) => world([], { ...configOf(engines, path, name, LEASE_MS), ...more })),
  );
  const urls = gateways.map(({ adminUrl }) => adminUrl);
  const areAll = async () =>
    (await Promise.all(urls.map(clusterOf))).every((row) => row.standing === 'shared' && row.live === GATEWAYS);
  await until(areAll, PATIENCE_MS);
  // One that starts on a busy machine may be alone at first, and uses an equal share until its first claim is answered.
  await withinWindows(urls);
  return gateways;
}

describe.skipIf(noRedis !== undefined)('three gateways in front of two engines', () => {
  it('run a program sent to any of them as one, with one home', async () => {
    const engines = await startEngines();
    const gateways = await startGateways(engines);
    const homes = new Set<unknown>();
    for (let i = 0; i < 12; i += 1) {
      const got = await chat(gateways[(i * i) % GATEWAYS]!.url, question(`${LONG} ${i}`), AGENT);
      expect(got.status).toBe(200);
      homes.add(got.headers['x-maitred-engine']);
    }
    expect(homes.size).toBe(1);
    const last = gateways[(11 * 11) % GATEWAYS]!;
    const { calls, engine } = (await ask(`${last.adminUrl}/programs/agent`)).json();
    expect(engine).toBe([...homes][0]);
    // A busy gateway may tell of a call only after the next one has come elsewhere, which then does not count it.
    expect(calls).toBeGreaterThan(8);
    expect(
      [...(await metrics(last.adminUrl)).keys()].filter((name) => name.startsWith('maitred_cluster_')),
    ).toHaveLength(8);
  });

  it('continue each other’s responses, of one tenant alone', async () => {
    const more = { auth: { keys: keysOf('t', 'u') }, admin: { port: 0 } };
    const [a, , c] = (await startGateways(await startEngines(), more)) as [World, World, World];
    const respond = ({ url }: World, body: object, tenant: string) =>
      post(`${url}/v1/responses`, { model: MODEL, ...body }, bearer(tenant));
    const made = await respond(a, { input: 'hello' }, 't');
    const next = { input: 'go on', previous_response_id: made.json()['id'] };
    await sleep(100); // The answer has been told.
    const held = await respond(c, next, 't');
    expect(held.status).toBe(200);
    for (const header of ['x-maitred-program', 'x-maitred-engine'])
      expect(held.headers[header]).toBe(made.headers[header]);
    expect((await respond(c, next, 'u')).status).toBe(404);
  });

  it('continue each other’s conversations, with a thread for each sub-agent, of one tenant alone', async () => {
    const more = { auth: { keys: keysOf('t', 'u') }, admin: { port: 0 } };
    const gateways = await startGateways(await startEngines(), more);
    const send = async (at: number, messages: readonly object[], tenant = 't') => {
      const { adminUrl, url } = gateways[at % GATEWAYS]!;
      const got = await chat(url, { messages }, bearer(tenant));
      const program = String(got.headers['x-maitred-program']);
      const [{ message }] = got.json()['choices'] as [{ message: { tool_calls?: [{ id: string }] } }];
      await sleep(100); // The answer has been told.
      const row = (await ask(`${adminUrl}/programs/${encodeURIComponent(program)}`)).json();
      return { program, message, threads: (row['threads'] as { thread: string }[]).map(({ thread }) => thread) };
    };
    const user = (content: string) => ({ role: 'user', content });
    const runs = Array.from({ length: 6 }, async (_, run) => {
      const task = `Find out how the weather will be in the valley ${run}.`;
      const start = [user(`Plan the journey ${run}. Pass on: ${task}`)];
      const parent = await send(run, start);
      const own = [{ role: 'system', content: 'You know the weather.' }, user(`Your task:\n${task}`)];
      expect((await send(run + 1, own, 'u')).program).not.toBe(parent.program);
      const sub = await send(run + 1, own);
      expect(sub.program).toBe(parent.program);
      expect(sub.threads.filter((thread) => thread.startsWith('ask-'))).toHaveLength(1);
      const next = await send(run + 2, [...own, sub.message, user('And the day after?')]);
      expect(next.program).toBe(parent.program);
      const result = { role: 'tool', tool_call_id: parent.message.tool_calls![0].id, content: 'sun' };
      expect((await send(run + 1, [...start, parent.message, result])).program).toBe(parent.program);
      return parent.program;
    });
    expect(new Set(await Promise.all(runs)).size).toBe(6);
  });

  it('divide engine time 4 : 1 between tenants of such weights', async () => {
    const tenants = ['t', 'u'] as const;
    const policy = { tenants: 'weighted', tenantWeights: { t: 4, u: 1 } };
    const more = { auth: { keys: keysOf(...tenants) }, admin: { port: 0 }, policy };
    const gateways = await startGateways(await startEngines(100), more);
    const answered = { t: 0, u: 0 };
    const ask = async (tenant: 't' | 'u', client: number) => {
      for (let i = client; answered.t + answered.u < 1000; i += 1) {
        const got = await chat(gateways[i % GATEWAYS]!.url, question(`${tenant} ${i}`), bearer(tenant));
        expect(got.status).toBe(200);
        answered[tenant] += 1;
      }
    };
    await Promise.all(tenants.flatMap((tenant) => Array.from({ length: 30 }, (_, client) => ask(tenant, client))));
    expect(Math.abs(answered.t / (answered.t + answered.u) - 0.8)).toBeLessThan(0.06);
  });
});
