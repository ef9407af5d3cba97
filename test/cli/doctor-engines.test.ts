import { expect, describe, it } from 'vitest';
import { stringify } from 'yaml';
import { fileOf } from '../support/folder.js';
import { FakeEngine, modelList, reset, type Route } from '../support/fake-engine.js';
import { fakeEngine, world } from '../sidecar/gateway/world.js';
import { CONFIG_INFO, examine, vllm } from './examine.js';

describe('maitred doctor about an engine', () => {
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
    const deaf = await own({ '/v1/completions': 400 }, ['m']);
    expect([deaf.code, deaf.about('answers 400 to a small call for m')]).toMatchObject([0, [{ level: 'warning' }]]);
    const keyed = (await own({ '/v1/completions': 401 }, ['m'])).about('refuses a call');
    expect(keyed).toMatchObject([
      { level: 'broken', advice: expect.stringMatching(/^set engines\[\]\.apiKey/) as string },
    ]);
  });

  it.each<[string, string, string, Route]>([
    ['vllm', '/v1/completions', 'answers 500', 500],
    ['openai', '/v1/chat/completions', 'answers 500', 500],
    ['openai', '/v1/chat/completions', 'answers no completion', '{"error": "none"}'],
    ['openai', '/v1/chat/completions', 'does not answer', reset],
  ])('is broken where an engine of kind %s lists a model, and at %s %s', async (kind, path, how, route) => {
    const { url } = await vllm({ '/v1/models': modelList(['m'], kind), [path]: route });
    const { code, about } = await examine([
      '--config',
      fileOf('mute.yaml', stringify({ engines: [{ url, kind, models: ['M', 'm'] }] })),
    ]);
    expect([code, about('serves')]).toEqual([1, []]);
    expect(about(`${how}${how.includes('not') ? '' : ' to'} a small call for M at ${path}`)).toMatchObject([
      { level: 'broken' },
    ]);
  });

  it('sends one call to an engine whose flags no answer shows, none if it is told so', async () => {
    const { url, requests } = await FakeEngine.start({
      '/v1/models': modelList(['m'], 'me'),
      '/v1/chat/completions': '{"choices": []}',
    });
    const own = fileOf('one.yaml', stringify({ engines: [{ url, capacityTokens: 100 }] }));
    const { about } = await examine(['--config', own]);
    expect(about('serves m')).toMatchObject([{ level: 'ok' }]);
    expect(about('one call may need')).toMatchObject([{ level: 'warning' }]);
    await examine(['--config', own, '--no-calls']);
    expect(requests.filter((each) => each.startsWith('POST'))).toHaveLength(1);
  });

  it('tells limits above the engine’s own', async () => {
    const { url } = await FakeEngine.start({
      '/v1/models': modelList(['m'], 'llamacpp'),
      '/health': 200,
      '/slots': JSON.stringify([{ n_ctx: 9 }, { n_ctx: 9 }]),
    });
    const of = async (own: object) =>
      (await examine(['--config', fileOf('window.yaml', stringify({ engines: [{ url, ...own }] }))])).about(
        'it reports',
      );
    expect([await of({ window: 2 }), await of({ window: 3 })]).toMatchObject([[], [{ level: 'warning' }]]);
    const long = { level: 'warning', advice: expect.stringContaining('engines[].contextTokensMax, 10 now') as string };
    expect([await of({ contextTokensMax: 9 }), await of({ contextTokensMax: 10 })]).toMatchObject([[], [long]]);
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
      '/v1/completions': JSON.stringify({ choices: [], usage: { prompt_tokens: 9 } }),
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
      {
        '/v1/models': modelList(['m'], 'sglang'),
        '/server_info': JSON.stringify({ enable_cache_report: false, disable_radix_cache: true }),
      },
      { '--enable-cache-report': 'warning', '--disable-radix-cache': 'warning', '--enable-metrics': 'warning' },
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
    const page = await FakeEngine.start({});
    page.all = (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>');
    const site = (await examine(['--engine', page.url])).about('is a web site');
    expect(site).toMatchObject([{ level: 'broken', advice: expect.stringContaining('engines[].url') as string }]);
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
});
