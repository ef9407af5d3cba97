import { expect, it } from 'vitest';
import { DnsServer } from '../discovery/dns-server.js';
import { documentedMetrics } from '../../support/promql.js';
import { hasPromtool, promtool } from '../../support/promtool.js';
import {
  cleanUp,
  DONE_EVENT,
  STREAM,
  USAGE_EVENT,
  ask,
  bearer,
  chat,
  completion,
  fakeEngine,
  keysOf,
  post,
  stream,
  until,
  world,
  type World,
} from '../gateway/world.js';

/** Series that have no samples until Node.js has something to count, and those of parts that are off. */
const UNCERTAIN = new Set([
  'nodejs_gc_duration_seconds',
  'nodejs_active_requests',
  'maitred_cluster_store_up',
  'maitred_cluster_gateways',
  'maitred_cluster_gateways_expected',
  'maitred_cluster_store_failures_total',
  'maitred_cluster_takes_total',
  'maitred_shadow_gain_ratio',
]);
const TENANTS = ['alpha', 'beta', 'gamma'];

/** A gateway through which everything has come that is counted. */
async function exercised(): Promise<World> {
  const good = await fakeEngine(async (response, seen, request) => {
    const streams = seen.body.includes('"stream":true');
    await (streams ? stream([STREAM[0]!, USAGE_EVENT, DONE_EVENT]) : completion())(response, seen, request);
  });
  const bad = await fakeEngine((response) => void response.writeHead(500).end());
  const dns = await DnsServer.start();
  cleanUp(() => dns.close());
  const { port } = new URL((await fakeEngine()).url);
  dns.answer = [{ type: 'A', value: '127.0.0.1' }];
  const all = await world([good, bad], {
    discovery: [
      { dns: { name: 'e.example', port: Number(port), servers: [dns.address] }, kind: 'openai', models: ['other'] },
    ],
    auth: { keys: keysOf(...TENANTS) },
    admin: { port: 0 },
    engines: [
      { url: good.url, kind: 'openai', capacityTokens: 1000, window: 4 },
      { url: bad.url, kind: 'openai' },
    ],
    limits: { tenantSeriesMax: 2 },
    policy: { tenants: 'weighted', foresight: 'declared' },
  });
  for (const tenant of TENANTS) await Promise.all([1, 2, 3].map(() => chat(all.url, { stream: true }, bearer(tenant))));
  for (const final of ['false', 'true'])
    await chat(all.url, {}, { ...bearer('alpha'), 'x-maitred-program': 'p', 'x-maitred-final': final });
  await chat(all.url, { model: 'unknown' }, bearer('alpha'));
  await post(`${all.url}/v1/moderations`, {}, bearer('alpha'));
  return all;
}

interface Series {
  readonly type: string;
  readonly labels: Set<string>;
  samples: number;
}

/** What a scrape tells of each metric. */
function seriesIn(text: string): Map<string, Series> {
  const found = new Map<string, Series>();
  for (const line of text.split('\n')) {
    const [, declared, type = ''] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? [];
    if (declared !== undefined) found.set(declared, { type, labels: new Set(), samples: 0 });
    const [, name = '', labels = ''] = /^(\w+)(?:\{(.*)\})? \S+$/.exec(line) ?? [];
    const series = found.get(name) ?? found.get(name.replace(/_(bucket|sum|count)$/, ''));
    if (series === undefined) continue;
    series.samples += 1;
    for (const [, label = ''] of labels.matchAll(/(\w+)="/g)) if (label !== 'le') series.labels.add(label);
  }
  return found;
}

it('docs/METRICS.md is what a scrape shows: names, types and labels', async () => {
  const { adminUrl } = await exercised();
  await until(async () =>
    (await ask(`${adminUrl}/metrics`)).text.includes('maitred_programs_ended_total{cause="ended"} 1'),
  );
  // Samples of the event loop's delay come a turn after the scrape that asks for them.
  const { text } = await ask(`${adminUrl}/metrics`);
  const scraped = [...seriesIn(text)].map(([name, { type, labels, samples }]) => {
    if (samples === 0) expect(UNCERTAIN).toContain(name);
    return { name, type, ...(!UNCERTAIN.has(name) && { labels: [...labels].toSorted() }) };
  });
  const documented = documentedMetrics().map(({ name, type, labels }) => {
    return { name, type, ...(!UNCERTAIN.has(name) && { labels: labels.toSorted() }) };
  });
  const byName = (a: { readonly name: string }, b: { readonly name: string }) => (a.name < b.name ? -1 : 1);
  const listed = new Set(documented.map(({ name }) => name));
  const own = scraped.filter(({ name }) => listed.has(name) || !/^(process|nodejs)_/.test(name));
  expect(own.toSorted(byName)).toEqual(documented.toSorted(byName));
  const tenants = new Set(
    [...text.matchAll(/maitred_tenant_calls_accepted_total\{tenant="([^"]+)"/g)].map((m) => m[1]),
  );
  expect(tenants).toEqual(new Set(['alpha', 'beta', '(other)']));
  if (hasPromtool) expect(promtool(['check', 'metrics'], text)).toBe('');
});
