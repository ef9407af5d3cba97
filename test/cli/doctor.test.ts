import { createHash } from 'node:crypto';
import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { AT_ZERO } from '../../sidecar/discovery/discovery.js';
import { DnsServer } from '../sidecar/discovery/dns-server.js';
import { run } from '../support/command-line.js';
import { fileOf } from '../support/folder.js';
import { FakeEngine, modelList, type Route } from '../support/fake-engine.js';
import { chat, cleanUp, fakeEngine, world } from '../sidecar/gateway/world.js';
import { CONFIG_INFO, examine, vllm } from './examine.js';

describe('maitred doctor', () => {
  it('is content with an engine that has all it needs', async () => {
    const engine = await vllm();
    const { code, about, levels } = await examine(['--engine', engine.url]);
    expect([code, levels.has('warning'), levels.has('broken')]).toEqual([0, false, false]);
    expect(about('vllm, detected')).toHaveLength(1);
    expect(about('1,600 tokens')).toHaveLength(1);
    expect(engine.requests.filter((each) => each.startsWith('POST'))).toHaveLength(2);
  });

  it('compares models and KV cache as configured with those that the engine reports', async () => {
    const { url } = await vllm();
    const of = (own: object) => examine(['--config', fileOf('own.yaml', stringify({ engines: [{ url, ...own }] }))]);
    const odd = await of({ models: ['m', 'other'], capacityTokens: 100 });
    expect(odd.about('it reports a KV cache of 1,600 tokens')).toMatchObject([{ level: 'warning' }]);
    expect(odd.about('it does not list other')).toMatchObject([{ level: 'warning' }]);
    expect(odd.about('KV cache of 100 tokens')).toEqual([]);
    const own = await of({ models: ['m'], capacityTokens: 900, window: 9999 });
    expect([own.levels.has('warning'), own.about('KV cache of 900 tokens').length]).toEqual([false, 1]);
    expect((await of({ hostTokens: 7 })).about('shows no host memory')).toMatchObject([{ level: 'note' }]);
    expect((await of({ serverName: 'x' })).about('serverName has no effect')).toMatchObject([{ level: 'note' }]);
  });

  it('is broken where an engine does not have the models that it is to serve', async () => {
    const own = async (routes: Record<string, Route>, models: string[]) => {
      const { url } = await vllm(routes);
      return examine(['--config', fileOf('models.yaml', stringify({ engines: [{ url, models }] }))]);
    };
    const { code, about } = await own({ '/v1/completions': 404 }, ['M']);
    expect([code, about('serves'), about('does not report')]).toEqual([1, [], []]);
    expect(about('it does not list M; it lists m')).toMatchObject([{ level: 'broken' }]);
    const other = (await own({ '/v1/completions': 500 }, ['m'])).about('answers 500 to a small call for m');
    expect(other).toMatchObject([{ level: 'warning' }]);
    const keyed = (await own({ '/v1/completions': 401 }, ['m'])).about('refuses a call');
    expect(keyed).toMatchObject([{ level: 'broken', advice: expect.stringContaining('apiKey') as string }]);
  });

  it('tells what has no effect, and servers of shared state and traces that cannot be reached', async () => {
    const { url } = await vllm();
    const dead = { cluster: { url: 'redis://127.0.0.1:1' }, tracing: { otlp: { url: 'http://127.0.0.1:1' } } };
    const policy = { name: 'pass-through', tenants: 'weighted' };
    const admission = { gate: 0, window: 1 };
    const { code, about } = await examine(['--config', fileOf('dead.yaml', stringify({ engines: [{ url }], policy, admission, ...dead }))]); // prettier-ignore
    expect(about('admission.gate: is 0')).toMatchObject([{ level: 'warning' }]);
    expect(about('one call at a time')).toMatchObject([{ level: 'note' }]);
    expect([code, about('not scheduled: tenants’ weights have no effect')]).toMatchObject([0, [{ level: 'note' }]]);
    const refused = { level: 'warning', found: expect.stringContaining('connection refused') as string };
    expect(about('cannot be reached')).toMatchObject([refused, refused]);
    const alive = { cluster: { url: url.replace('http', 'redis') }, tracing: { otlp: { url } } };
    const file = fileOf('alive.yaml', stringify({ engines: [{ url }], ...alive, log: { level: 'warn' } }));
    const fine = await examine(['--config', file], { MAITRED_LOG_LEVEL: 'info' });
    expect(fine.about('cannot be reached')).toEqual([]);
    expect(fine.about('overrides log.level')).toMatchObject([{ level: 'warning', subject: 'MAITRED_LOG_LEVEL' }]);
  });

  it('tells all faults of a file in one run, and of the engines whose keys are right', async () => {
    const { url } = await vllm();
    const dead = 'http://127.0.0.1:1';
    const engines = [
      { url },
      { url: dead, id: 'dead' },
      { url, id: 'dead' },
      { url, id: 'keyed', apiKey: 'env:NOT_SET' },
    ];
    const cluster = { url: 'redis://127.0.0.1:1' };
    const file = { bogus: 1, engines, cluster, batches: { folder: join(dirname(fileOf('faults', '')), 'batches') } };
    const { code, findings, about } = await examine(['--config', fileOf('faults.yaml', stringify(file))]);
    expect(code).toBe(1);
    for (const each of [
      'bogus: is not a known key',
      'engines[2].id: "dead" is the id of',
      'NOT_SET, which is not set',
      'cluster.address: is needed',
      `${dead} is not healthy`,
    ])
      // prettier-ignore
      expect([each, about(each).length]).toEqual([each, 1]);
    expect(findings.some(({ subject }) => subject === 'engine keyed')).toBe(false);
    expect(about('vllm, detected')).toHaveLength(1);
    const misspelt = await examine(['--engine', url], { MAITRED_LISTN_PORT: '1' });
    expect([misspelt.code, misspelt.about('vllm, detected').length]).toEqual([1, 1]);
  });

  it('recommends to start a gateway only where none runs', async () => {
    const file = fileOf('next.yaml', stringify({ engines: [{ url: (await vllm()).url }] }));
    const next = async (port: string, ...more: string[]) => (await run(['doctor', '--config', file, ...more], { MAITRED_LISTEN_PORT: port })).out.split('Next: ')[1]; // prettier-ignore
    const { url } = await vllm();
    expect(await next('0')).toMatch(/ serve --config \S+\n$/);
    expect(await next('0', '--engine', url)).toContain(`--engine ${url}`);
    expect(await next(new URL((await world([])).url).port)).toBeUndefined();
  });

  it('tells limits above the engine’s own', async () => {
    const { url } = await FakeEngine.start({ '/v1/models': modelList(['m'], 'llamacpp'), '/health': 200, '/slots': JSON.stringify([{ n_ctx: 9 }, { n_ctx: 9 }]) }); // prettier-ignore
    const of = async (own: object) => (await examine(['--config', fileOf('window.yaml', stringify({ engines: [{ url, ...own }] }))])).about('it reports'); // prettier-ignore
    expect([await of({ window: 2 }), await of({ window: 3 })]).toMatchObject([[], [{ level: 'warning' }]]);
    const long = { level: 'warning', advice: expect.stringContaining('engines[].contextTokensMax, 10 now') as string };
    expect([await of({ contextTokensMax: 9 }), await of({ contextTokensMax: 10 })]).toMatchObject([[], [long]]);
  });

  it('tells a port that is not free: an engine has it, another program, or a gateway', async () => {
    const { url } = await vllm();
    const { port } = new URL(url);
    const env = { MAITRED_LISTEN_PORT: port };
    const own = await examine(['--engine', url], env);
    expect([own.code, own.about('vllm, detected').length, own.about('listen: ')]).toMatchObject([0, 1, [{ level: 'warning', advice: expect.stringContaining('--port') as string }]]); // prettier-ignore
    const file = fileOf('port.yaml', stringify({ listen: { port: Number(port) }, engines: [{ url: (await vllm()).url }] })); // prettier-ignore
    const taken = await examine(['--config', file], env);
    expect([taken.code, taken.about('listen: ')]).toMatchObject([1, [{ level: 'broken', found: expect.stringContaining('is taken') as string }]]); // prettier-ignore
    const engine = await vllm();
    const admin = { token: 'a-long-token' };
    const gateway = (await world([engine], { admin })).url;
    const atGateway = { MAITRED_LISTEN_PORT: new URL(gateway).port };
    const other = await examine(['--config', file], atGateway);
    expect([other.code, other.about('listen: ')]).toMatchObject([1, [{ level: 'broken', advice: expect.stringContaining(gateway) as string }]]); // prettier-ignore
    const same = fileOf('same.yaml', stringify({ admin, engines: [{ url: engine.url }] }));
    const runs = await examine(['--config', same], atGateway);
    expect([runs.code, runs.about('listen: ')]).toMatchObject([0, [{ level: 'note', found: expect.stringContaining(gateway) as string }]]); // prettier-ignore
    expect((await examine(['--url', gateway, '--config', file], env)).about('listen: ')).toEqual([]);
    const away = await examine(['--config', file], { MAITRED_ADMIN_PORT: '1', MAITRED_ADMIN_HOST: '192.0.2.1' });
    expect(away.about('admin: ')).toMatchObject([{ advice: expect.stringContaining('(admin.host)') as string }]);
  });

  it('tells an engine that is named twice, and one of another kind than it is told to be', async () => {
    const { url } = await vllm();
    const engines = [
      { url },
      { url: `${url.replace('127.0.0.1', 'localhost')}/v1`, id: 'again' },
      { url, id: 'other', kind: 'sglang' },
    ];
    const { about } = await examine(['--config', fileOf('twice.yaml', stringify({ engines }))]);
    expect(about('is another one too')).toMatchObject([{ subject: 'engine again' }, { subject: 'engine other' }]);
    expect(about('answers as vllm, not sglang')).toMatchObject([{ level: 'warning', subject: 'engine other' }]);
  });

  it('tells a folder of batches in which nothing can be written', async () => {
    const { url } = await vllm();
    const of = (folder: string) =>
      examine(['--config', fileOf('batches.yaml', stringify({ engines: [{ url }], batches: { folder } }))]);
    const file = fileOf('taken', '');
    const { code, about } = await of(join(file, 'batches'));
    expect([code, about('batches.folder')]).toMatchObject([1, [{ level: 'broken', found: expect.stringContaining(`${file} is no folder: `) as string }]]); // prettier-ignore
    const fresh = join(dirname(file), 'new', 'batches');
    expect([(await of(fresh)).code, existsSync(fresh)]).toEqual([0, false]);
  });

  it('says which host tier an engine has, and that it runs none of its requests', async () => {
    const offloads = `${CONFIG_INFO.replace('num_gpu', 'kv_offloading_size="2.0",num_gpu')}vllm:kv_offload_store_bytes_total 9\n`;
    const loaded = 'vllm:kv_offload_load_bytes_total 1835008\nvllm:external_prefix_cache_hits_total 896\n';
    const stuck = 'vllm:num_requests_running 0\nvllm:num_requests_waiting 7\n';
    const fresh = await vllm({ '/metrics': offloads });
    const used = await vllm({ '/metrics': offloads + loaded + stuck });
    expect((await examine(['--engine', fresh.url])).about('of unknown size')).toMatchObject([{ level: 'note' }]);
    const { about } = await examine(['--engine', used.url]);
    expect(about('host memory keeps 1,000,000 tokens')).toMatchObject([{ level: 'ok' }]);
    expect(about('none of its 7 requests')).toMatchObject([{ level: 'warning' }]);
  });

  it('names the flags that an engine lacks, and what to do', async () => {
    const bare = await vllm({
      '/metrics': CONFIG_INFO.replace('True', 'False'),
      '/v1/completions': JSON.stringify({ usage: { prompt_tokens: 9 } }),
    });
    const { code, about } = await examine(['--engine', bare.url]);
    expect(code).toBe(0);
    for (const flag of ['--enable-prefix-caching', '--enable-per-request-metrics', '--enable-prompt-tokens-details']) {
      expect(about(flag)).toMatchObject([{ level: 'warning' }]);
      expect(about(flag)[0]!.advice).toBeTruthy();
    }
    const quiet = await examine(['--engine', bare.url, '--no-calls']);
    expect(quiet.about('--enable-per-request-metrics')).toMatchObject([{ level: 'note' }]);
    expect(bare.requests.filter((each) => each.startsWith('POST'))).toHaveLength(2);
  });

  it.each<[string, Record<string, Route>, Record<string, string>]>([
    [
      'sglang',
      { '/v1/models': modelList(['m'], 'sglang'), '/server_info': JSON.stringify({ enable_cache_report: false, disable_radix_cache: true }) }, // prettier-ignore
      { '--enable-cache-report': 'warning', '--disable-radix-cache': 'warning', '--enable-metrics': 'warning' }, // prettier-ignore
    ],
    [
      'llamacpp',
      { '/v1/models': modelList(['m'], 'llamacpp'), '/health': 200, '/slots': JSON.stringify([{ n_ctx: 4096 }]) },
      { '--metrics': 'warning' },
    ],
    ['openai', { '/v1/models': modelList(['m'], 'me') }, { 'unknown size': 'warning', 'reports no load': 'note' }],
  ])('knows what an engine of kind %s may lack', async (kind, routes, expected) => {
    const engine = await FakeEngine.start(routes);
    const { code, about } = await examine(['--engine', engine.url]);
    expect(code).toBe(0);
    expect(about(`${kind}, detected`)).toHaveLength(1);
    for (const [text, level] of Object.entries(expected))
      expect([text, about(text)]).toMatchObject([text, [{ level }]]);
  });

  it('finds engines that are broken', async () => {
    const dead = 'http://127.0.0.1:1';
    const { code, about } = await examine(['--engine', dead]);
    expect(code).toBe(1);
    expect(about(dead)).toMatchObject([
      { level: 'broken', found: expect.stringContaining('connection refused') as string },
    ]);
    const empty = await vllm({ '/v1/models': modelList([]) });
    expect((await examine(['--engine', empty.url])).about('no model')).toMatchObject([{ level: 'broken' }]);
  });

  it('knows a gateway from an engine, also one with keys', async () => {
    for (const settings of [{}, { auth: { keys: [{ sha256: 'a'.repeat(64), tenant: 't' }] } }]) {
      const { url } = await world([await fakeEngine()], settings);
      const { code, about } = await examine(['--engine', url]);
      expect([code, about('is a maitred gateway, not an engine')]).toMatchObject([1, [{ level: 'broken' }]]);
      expect(about('not healthy')).toEqual([]);
    }
  });

  it('looks at sources of engines, and at the engines that they find', async () => {
    const engine = await vllm({ '/metrics': CONFIG_INFO });
    const dns = await DnsServer.start();
    cleanUp(() => dns.close());
    dns.answer = [{ type: 'SRV', value: `0 ${new URL(engine.url).port} 127.0.0.1` }];
    const source = { name: 'e.example', type: 'SRV', servers: [dns.address] };
    const absent = { name: 'x.example', port: 1, servers: [dns.address] };
    const atZero = { dns: { ...absent, name: 'zero.example' }, models: ['m'] };
    const config = fileOf('maitred.yaml', stringify({ discovery: [{ dns: source }, { dns: absent }, atZero] }));
    const { code, about } = await examine(['--config', config, '--no-calls']);
    expect(code).toBe(1);
    expect(about('dns:e.example: engines: 1')).toMatchObject([{ level: 'ok' }]);
    expect(about(`${new URL(engine.url).host}: vllm, detected`)).toHaveLength(1);
    expect(about('dns:x.example:1:')).toMatchObject([{ level: 'broken', found: expect.stringContaining('ENODATA') as string }]); // prettier-ignore
    expect(about('none is configured')).toEqual([]);
    expect(about(AT_ZERO)).toMatchObject([{ level: 'note', subject: 'discovery dns:zero.example:1' }]);
    const { url } = await world([], { discovery: [atZero] });
    expect(await examine(['--url', url])).toMatchObject({ code: 0 });
    chat(url, { model: 'm' }).catch(() => undefined);
    const waits = async () => (await examine(['--url', url])).about('1 call waits');
    await expect.poll(waits).toMatchObject([{ level: 'note', advice: expect.stringContaining(' why ') as string }]);
  });

  it('finds secrets that anyone may read, guess or go without', async () => {
    const hash = (text: string) => createHash('sha256').update(text).digest('hex');
    const keys = `[{sha256: ${hash('')}, tenant: a}, {sha256: ${hash('short-token')}, tenant: b}]`;
    const file = fileOf('maitred.yaml', `admin: {token: short-token}\nauth: {keys: ${keys}}\n`);
    chmodSync(file, 0o644);
    const { code, about, findings } = await examine(['--config', file], {});
    expect(code).toBe(1);
    expect(about('admin.token in plain text')).toMatchObject([{ level: 'warning', advice: expect.stringContaining('chmod') as string }]); // prettier-ignore
    expect(about('the hash of an empty key')).toMatchObject([{ level: 'broken' }]);
    expect(about('11 characters')).toHaveLength(1);
    expect(about('is an API key too')).toHaveLength(1);
    expect(JSON.stringify(findings)).not.toContain('short-token');
    chmodSync(file, 0o600);
    expect((await examine(['--config', file])).about('as text')).toEqual([]);
    writeFileSync(file, 'listen: {port: 0, host: 0.0.0.0}\nadmin: {port: 0, host: 0.0.0.0}\n');
    const open = await examine(['--config', file]);
    expect(open.about('listen.host')).toMatchObject([{ level: 'warning' }]);
    expect(open.about('admin.host')).toMatchObject([{ level: 'warning' }]);
    writeFileSync(file, 'listne: {port: 0}\nadmn: {port: 0}\n');
    expect(await examine(['--config', file])).toMatchObject({ code: 1, levels: new Set(['broken']) });
    expect((await run(['doctor', '--config', file])).out.match(/->/g)).toHaveLength(1);
    const { code: gone, about: missing } = await examine(['--config', `${file}.no`]);
    expect([gone, missing('no such file')]).toMatchObject([1, [{ level: 'broken', found: expect.stringContaining(`--out ${file}.no`) as string }]]); // prettier-ignore
    writeFileSync(file, 'engines:\n  - url: a\n    url: b\ndiscovery:\n      - url: c\n        url: d\n');
    expect((await run(['doctor', '--config', file])).out).toMatch(/ > 3 \|[^]* > 6 \|/);
    writeFileSync(file, 'listen:\n  host: a\n port: 0\n');
    expect((await run(['doctor', '--config', file])).out).toMatch(/column 2[^]*\n {9}> 3 \| {2}port: 0\n {9}-> [^]*npx maitred\s+config --config/); // prettier-ignore
  });
});

describe('maitred doctor without engines', () => {
  it('names the flag that is wrong, and what it should be', async () => {
    const { code, out, errors } = await run(['doctor', '--engine', '127.0.0.1:8141']);
    expect([code, out, errors]).toEqual([2, '', [expect.stringMatching(/--engine: .*http:\/\/127.0.0.1:8141/)]]);
  });

  it('counts the rows that it shows', async () => {
    const engines = await Promise.all([vllm(), vllm()]);
    const { out } = await run(['doctor', ...engines.flatMap(({ url }) => ['--engine', url])], {
      MAITRED_LISTEN_PORT: '0',
    });
    expect(out.match(/^ok {2,}/gm)).toHaveLength(Number(/(\d+) ok\n/.exec(out)?.[1]));
  });

  it('is broken, and says how to name some or try it out', async () => {
    const { code, about } = await examine([]);
    expect([code, about('none is configured')]).toMatchObject([1, [{ level: 'broken', advice: expect.stringMatching(/--engine URL.*--embedded 2/) as string }]]); // prettier-ignore
    const { errors, out } = await run(['doctor'], { MAITRED_LISTEN_PORT: '0' });
    expect(out).toMatch(/^1 broken, 1 ok\n/);
    expect(errors).toEqual([]);
  });
});
