import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { configSchema } from '../../../sidecar/config/index.js';
import { lookUp } from '../../../sidecar/discovery/dns.js';
import { cleanUp } from '../../support/clean-up.js';
import { DnsServer, NXDOMAIN, SERVFAIL } from './dns-server.js';
import { Looks } from './looks.js';

async function dns(fields: object, defaults: object = {}) {
  const server = await DnsServer.start();
  cleanUp(() => server.close());
  const [source] = configSchema.parse({
    discovery: [{ dns: { name: 'vllm.example', servers: [server.address], ...fields }, kind: 'vllm', ...defaults }],
  }).discovery;
  return { server, start: () => new Looks(source!) };
}

describe('a DNS name', () => {
  it('is an engine for each address, and is asked again when its TTL is over', async () => {
    const { server, start } = await dns({ port: 8000 });
    server.answer = [
      { type: 'A', value: '10.0.0.2', ttl: 5 },
      { type: 'A', value: '10.0.0.1', ttl: 7 },
    ];
    const looks = start();
    expect(await looks.next()).toEqual([
      { kind: 'vllm', url: 'http://10.0.0.1:8000' },
      { kind: 'vllm', url: 'http://10.0.0.2:8000' },
    ]);
    expect(await looks.pause()).toBe(5000);
    server.answer = [{ type: 'A', value: '10.0.0.2', ttl: 0 }];
    await looks.again();
    expect(await looks.urls()).toEqual(['http://10.0.0.2:8000']);
    expect(await looks.pause()).toBe(1000);
    server.answer = [{ type: 'A', value: '10.0.0.2', ttl: 3600 }];
    await looks.again();
    await looks.next();
    expect(await looks.pause()).toBe(10_000);
    expect(server.asked).toEqual(Array(3).fill('udp vllm.example'));
  });

  it('fails a single look at servers that are no addresses', async () => {
    const [source] = configSchema.parse({
      discovery: [{ dns: { name: 'vllm.example', port: 8000, servers: ['999.1.1.1'] } }],
    }).discovery;
    await expect(lookUp(source!)).rejects.toThrow('Invalid IP');
  });

  it('may have IPv6 addresses, and engines with certificates of its name', async () => {
    const { server, start } = await dns({ port: 8000, type: 'AAAA', scheme: 'https' });
    server.answer = [{ type: 'AAAA', value: 'fd00:0:0:0:0:0:0:1' }];
    expect(await start().next()).toEqual([{ kind: 'vllm', url: 'https://[fd00::1]:8000', serverName: 'vllm.example' }]);
  });

  it('has engines with ports of their own in SRV records, of the first priority only', async () => {
    const { server, start } = await dns({ type: 'SRV' });
    server.answer = [
      { type: 'SRV', value: '10 8001 b.example' },
      { type: 'SRV', value: '10 8000 a.example' },
      { type: 'SRV', value: '20 8000 spare.example' },
    ];
    const looks = start();
    expect(await looks.urls()).toEqual(['http://a.example:8000', 'http://b.example:8001']);
    expect(await looks.pause()).toBe(10_000);
    server.answer = [{ type: 'SRV', value: '0 0 .' }];
    await looks.again();
    expect(await looks.urls()).toEqual([]);
  });

  it('is asked over TCP when the answer was cut', async () => {
    const { server, start } = await dns({ port: 80 });
    server.answer = Array.from({ length: 100 }, (_, i) => ({ type: 'A' as const, value: `10.0.0.${i + 1}` }));
    server.truncates = true;
    const looks = start();
    expect(await looks.urls()).toHaveLength(100);
    expect(server.asked).toEqual(['udp vllm.example', 'tcp vllm.example']);
    server.hasTcp = false;
    await looks.again();
    expect(await looks.next()).toEqual(expect.any(String));
  });

  it.each([
    ['no such name', NXDOMAIN, 'host not found'],
    ['a broken server', SERVFAIL, 'ESERVFAIL'],
    ['no such record', [], 'ENODATA'],
  ])('that fails by %s is asked again, with growing pauses up to the refresh', async (_, answer, code) => {
    const { server, start } = await dns({ port: 80, refreshMs: 3000 });
    server.answer = answer;
    const looks = start();
    for (const [index, most] of [1000, 2000, 3000, 3000].entries()) {
      expect(await looks.next()).toContain(code);
      const pause = await looks.pause();
      expect(pause).toBeGreaterThanOrEqual(most / 2);
      expect(pause).toBeLessThanOrEqual(most);
      if (index === 3) server.answer = [{ type: 'A', value: '10.0.0.1' }];
      await looks.again();
    }
    expect(await looks.urls()).toEqual(['http://10.0.0.1:80']);
  });

  it('is logged once for each reason until it answers again, though the reasons take turns', async () => {
    const { server, start } = await dns({ port: 80 });
    server.answer = NXDOMAIN;
    const looks = start();
    for (const answer of [SERVFAIL, NXDOMAIN, SERVFAIL, [{ type: 'A', value: '10.0.0.1' } as const], NXDOMAIN, []]) {
      await looks.next();
      server.answer = answer;
      await looks.again();
    }
    await looks.next();
    const codes = ['host not found', 'ESERVFAIL', 'host not found', 'ENODATA'];
    expect(looks.logged).toEqual(codes.map((code) => expect.stringContaining(code) as string));
  });

  it('may have no record if the models of its engines are known, and is then asked again in a second', async () => {
    const { server, start } = await dns({ port: 80 }, { models: ['m'] });
    server.answer = NXDOMAIN;
    const looks = start();
    expect([await looks.next(), await looks.pause()]).toEqual([[], 1000]);
    server.answer = [];
    await looks.again();
    expect(await looks.next()).toEqual([]);
    server.answer = SERVFAIL;
    await looks.again();
    expect(await looks.next()).toContain('ESERVFAIL');
  });
});

describe('the configuration', () => {
  it.each([
    ['{}', '0.dns'],
    ['{dns: {name: a, port: 1}}, {dns: {name: a, port: 1}, window: 1}', '1'],
    ['{dns: {name: a}}', '0.dns.port'],
    ['{dns: {name: a, type: SRV, port: 1}}', '0.dns.port'],
    ['{dns: {name: "a:80", port: 80}}', '0.dns.name'],
    ['{dns: {name: a, port: 80, servers: [dns.example]}}', '0.dns.servers.0'],
  ])('refuses %s', (text, path) => {
    const { error } = configSchema.safeParse({ discovery: parse(`[${text}]`) as unknown });
    expect(error?.issues.map((issue) => issue.path.join('.'))).toEqual([`discovery.${path}`]);
  });
});
