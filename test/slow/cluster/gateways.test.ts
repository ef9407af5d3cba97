import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import {
  ask,
  bearer,
  chat,
  cleanUp,
  gate,
  keysOf,
  metrics,
  MODEL,
  post,
  until,
  world,
  type World,
} from '../../sidecar/gateway/world.js';
import { noRedis, RedisServer } from '../../../processes/redis.js';
import { PATIENCE_MS, question, startEngines, WINDOW, type Counted } from './counted.js';

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

const configOf = (store: RedisServer, engines: readonly Counted[], name: string): Record<string, unknown> => ({
  engines: engines.map(({ engine }) => ({ url: engine.url, kind: 'openai', window: WINDOW })),
  admission: { batching: 'none', gate: 0 },
  // A busy machine makes no operation late.
  cluster: { url: store.path, gateway: name, limitMs: 300, heartbeatMs: 100, leaseMs: LEASE_MS },
});

async function startGateways(store: RedisServer, engines: readonly Counted[], more = {}): Promise<World[]> {
  const names = Array.from({ length: GATEWAYS }, (_, i) => `g${i}`);
  const gateways = await Promise.all(names.map((name) => world([], { ...configOf(store, engines, name), ...more })));
  for (const gateway of gateways) await sharing(gateway, GATEWAYS);
  // One that starts on a busy machine may be alone at first, and uses an equal share until its first claim is answered.
  await until(async () => (await windowsOf(gateways)).every((slots) => slots <= WINDOW), PATIENCE_MS);
  return gateways;
}

const sharing = (gateway: World, gateways: number): Promise<void> =>
  until(async () => {
    const { standing, live } = await clusterOf(gateway);
    return standing === 'shared' && live === gateways;
  }, PATIENCE_MS);

/** Of each engine, the calls that all gateways together may have in flight. */
async function windowsOf(gateways: readonly World[]): Promise<number[]> {
  const answers = await Promise.all(gateways.map(({ adminUrl }) => ask(`${adminUrl}/engines`)));
  const each = answers.map((answer) => answer.json()['engines'] as readonly { readonly window: number }[]);
  return each[0]!.map((_, at) => each.reduce((sum, engines) => sum + engines[at]!.window, 0));
}

const clusterOf = async ({ adminUrl }: World): Promise<Record<string, unknown>> =>
  (await ask(`${adminUrl}/gateway`)).json()['cluster'] as Record<string, unknown>;

describe.skipIf(noRedis !== undefined)('three gateways in front of two engines', () => {
  it('run a program sent to any of them as one, with one home', async () => {
    const engines = await startEngines();
    const gateways = await startGateways(await startStore(), engines);
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
    expect([...(await metrics(last.adminUrl)).keys()].filter((name) => name.startsWith('maitred_cluster_'))).toHaveLength(7); // prettier-ignore
  });

  it('continue each other’s conversations and responses, of one tenant alone', async () => {
    const more = { auth: { keys: keysOf('t', 'u') }, admin: { port: 0 } };
    const [a, b, c] = (await startGateways(await startStore(), await startEngines(), more)) as [World, World, World];
    const first = await chat(a.url, question('hello'), bearer('t'));
    const [{ message }] = first.json()['choices'] as [{ message: object }];
    const messages = [...question('hello').messages, message, { role: 'user', content: 'go on' }];
    await sleep(100); // The answer has been told.
    const second = await chat(b.url, { messages }, bearer('t'));
    expect(second.headers['x-maitred-program']).toBe(first.headers['x-maitred-program']);
    const stranger = await chat(b.url, { messages }, bearer('u'));
    expect(stranger.headers['x-maitred-program']).not.toBe(first.headers['x-maitred-program']);

    const respond = ({ url }: World, body: object, tenant: string) =>
      post(`${url}/v1/responses`, { model: MODEL, ...body }, bearer(tenant));
    const made = await respond(a, { input: 'hello' }, 't');
    const next = { input: 'go on', previous_response_id: made.json()['id'] };
    await sleep(100);
    const held = await respond(c, next, 't');
    expect(held.status).toBe(200);
    for (const header of ['x-maitred-program', 'x-maitred-engine'])
      expect(held.headers[header]).toBe(made.headers[header]);
    expect((await respond(c, next, 'u')).status).toBe(404);
  });

  it('make a thread of each sub-agent whose parent another of them has answered, of one tenant alone', async () => {
    const more = { auth: { keys: keysOf('t', 'u') }, admin: { port: 0 } };
    const gateways = await startGateways(await startStore(), await startEngines(), more);
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

  it('divide engine time 4 : 1 between tenants of such weights, as one gateway does', async () => {
    const tenants = ['t', 'u'];
    const policy = { tenants: 'weighted', tenantWeights: { t: 4, u: 1 } };
    const more = { auth: { keys: keysOf(...tenants) }, admin: { port: 0 }, policy };
    const shareOf = async (count: number) => {
      const engines = await startEngines(100);
      const store = await startStore();
      const all = await startGateways(store, engines, more);
      const urls = all.slice(0, count).map(({ url }) => url);
      const answered = { t: 0, u: 0 };
      const total = () => answered.t + answered.u;
      const ask = async (tenant: string, client: number) => {
        for (let i = client; total() < 1000; i += 1) {
          const got = await chat(urls[i % count]!, question(`${tenant} ${i}`), bearer(tenant));
          expect(got.status).toBe(200);
          answered[tenant as 't'] += 1;
        }
      };
      await Promise.all(tenants.flatMap((tenant) => Array.from({ length: 30 }, (_, client) => ask(tenant, client))));
      return answered.t / total();
    };
    const [one, three] = [await shareOf(1), await shareOf(GATEWAYS)];
    process.stdout.write(`share of the heavier tenant: ${one.toFixed(3)} at one gateway, ${three.toFixed(3)} over ${GATEWAYS}\n`); // prettier-ignore
    expect(Math.abs(one - 0.8)).toBeLessThan(0.04);
    expect(Math.abs(three - one)).toBeLessThan(0.04);
  });

  it('each tell what all of them have in flight', async () => {
    const engines = await startEngines();
    const gateways = await startGateways(await startStore(), engines);
    const { opened, open } = gate();
    for (const counted of engines) counted.held = opened;
    const calls = gateways.map(({ url }, i) => chat(url, question(`${i}`)));
    const inFlight = async ({ adminUrl }: World) => {
      const rows = (await ask(`${adminUrl}/engines`)).json()['engines'] as { in_flight: number; all_gateways: { in_flight: number; window: number } }[]; // prettier-ignore
      expect(rows.map(({ all_gateways: all }) => all.window)).toEqual([WINDOW, WINDOW]);
      const sum = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0);
      return `${sum(rows.map((row) => row.in_flight))} of ${sum(rows.map((row) => row.all_gateways.in_flight))}`;
    };
    for (const gateway of gateways) await until(async () => (await inFlight(gateway)) === '1 of 3', PATIENCE_MS);
    open();
    await Promise.all(calls);
  });
});
