import { expect, it } from 'vitest';
import type { GatewayState } from '../../../sidecar/admin/answers.js';
import { AT_ZERO } from '../../../sidecar/discovery/discovery.js';
import {
  cleanUp,
  completionBody,
  fakeEngine,
  MODEL,
  refusal,
  until,
  world,
  type FakeEngine,
} from '../gateway/world.js';
import { DnsServer, NXDOMAIN, SERVFAIL } from './dns-server.js';

/** Engines that are replaced under load. */
const CHANGES = Number(process.env['TEST_CHANGES'] ?? 2);

/** A DNS name whose records a test sets. */
async function dnsName() {
  const dns = await DnsServer.start();
  cleanUp(() => dns.close());
  const announce = (engines: readonly { readonly url: string }[]) => {
    dns.answer = engines.map(({ url }) => ({ type: 'SRV', value: `0 ${new URL(url).port} 127.0.0.1` }));
  };
  return { dns, announce, source: { name: 'vllm.example', type: 'SRV', servers: [dns.address], refreshMs: 1000 } };
}

it('starts without an engine, is ready when one is found, and shows who has it', async () => {
  const { dns, source: absent } = await dnsName();
  const engine = await fakeEngine();
  const sources = [
    { dns: { ...absent, name: 'absent.example' } },
    {
      dns: { name: 'vllm.example', port: Number(new URL(engine.url).port), servers: [dns.address], refreshMs: 1000 },
      kind: 'openai',
    },
  ];
  const { gateway, url, logs, ask, chat, engines, metrics } = await world([], { discovery: sources });
  expect((await ask('/readyz')).status).toBe(503);
  const reasons = logs.filter(({ level }) => level === 40).map(({ reason }) => String(reason));
  expect(reasons).toEqual([expect.stringContaining('ENODATA'), expect.stringContaining('ENODATA')]);
  dns.answer = [{ type: 'A', value: '127.0.0.1', ttl: 1 }];
  await until(async () => (await ask('/readyz')).status === 200);
  expect((await chat()).status).toBe(200);
  const source = `dns:vllm.example:${new URL(engine.url).port}`;
  expect(await engines()).toMatchObject([{ id: engine.id, state: 'up', source }]);
  const samples = await metrics();
  expect(samples.get(`maitred_discovery_failures_total{source="dns:absent.example"}`)).toBeGreaterThan(0);
  expect(samples.get(`maitred_discovery_found_timestamp_seconds{source="${source}"}`)).toBeCloseTo(
    Date.now() / 1000,
    -2,
  );
  expect(gateway.url).toBe(url);
});

it('holds calls for a source without engines, from its start and after it has lost its last', async () => {
  const { announce, source: dns } = await dnsName();
  const source = { dns, models: [MODEL], graceMs: 0, kind: 'openai' };
  const { logs, ask, chat, counted, engines, read } = await world([], {
    discovery: [source],
    timeouts: { noEngineMs: 600_000 },
    health: { backoffMs: 10, intervalMs: 10 },
  });
  expect((await ask('/readyz')).status).toBe(200);
  expect((await ask('/v1/models')).json()['data']).toMatchObject([{ id: MODEL }]);
  expect(await engines()).toEqual([]);
  expect(logs.filter(({ level }) => Number(level) >= 40)).toEqual([]);
  expect(logs.filter(({ msg }) => msg === `no engine: ${AT_ZERO}`)).toHaveLength(1);
  const { status } = await read<GatewayState>('/gateway');
  expect(status).toMatchObject({ level: 'good', title: '', text: expect.stringContaining(AT_ZERO) as string });
  expect(await counted('awaited_models')).toBe(1);
  expect(refusal(await chat({ model: 'another' }))).toEqual([503, 'no_engine']);
  for (let round = 0; round < 2; round += 1) {
    const engine = await fakeEngine();
    const call = chat();
    await until(async () => (await counted('waiting_calls{cause="no_engine"}')) === 1);
    expect(await counted('calls_in_system')).toBe(1);
    announce([engine]);
    const { status, headers } = await call;
    expect([status, headers['x-maitred-engine']]).toEqual([200, engine.id]);
    await engine.close();
    announce([]);
    await until(async () => (await engines()).length === 0);
  }
});

it(
  `joins and leaves of engines fail no call, in ${CHANGES} changes`,
  { timeout: 60_000 + CHANGES * 10_000 },
  async () => {
    const slow = (response: Parameters<FakeEngine['answer']>[0]) => {
      response.setHeader('content-type', 'application/json');
      setTimeout(() => response.end(JSON.stringify(completionBody())), 50 + Math.random() * 100);
    };
    const engines = await Promise.all(Array.from({ length: 6 }, () => fakeEngine(slow)));
    const { dns, announce, source } = await dnsName();
    // Three of six, one replaced at a time.
    const group = (first: number) => [0, 1, 2].map((index) => engines[(first + index) % engines.length]!);
    announce(group(0));
    const { chat, engines: rows } = await world([], {
      discovery: [{ dns: source, kind: 'openai', graceMs: 0 }],
      // A busy machine is no failure of an engine.
      health: { timeoutMs: 30_000 },
      timeouts: { connectMs: 60_000 },
    });

    let done = false;
    let calls = 0;
    const failed: string[] = [];
    const clients = Array.from({ length: 16 }, async () => {
      while (!done) {
        calls += 1;
        const { status, text } = await chat();
        if (status !== 200) failed.push(text);
      }
    });
    for (let change = 1; change <= CHANGES; change += 1) {
      announce(group(change));
      const wanted = group(change).map(({ id }) => id);
      await until(async () => {
        const there = await rows();
        return there.length === 3 && there.every(({ id, state }) => state === 'up' && wanted.includes(id));
      });
      // Failures, in which all stays as it is.
      dns.answer = [SERVFAIL, NXDOMAIN, []][change % 3]!;
      const looks = dns.asked.length;
      await until(() => dns.asked.length > looks);
      expect(await rows()).toHaveLength(3);
    }
    done = true;
    await Promise.all(clients);
    expect(failed).toEqual([]);
    // No call was tried twice either.
    expect(engines.reduce((sum, engine) => sum + engine.seen.length, 0)).toBe(calls);
    if ('TEST_CHANGES' in process.env) console.log(`${CHANGES} changes, ${calls} calls, ${failed.length} failed`);
  },
);
