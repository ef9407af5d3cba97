import { describe, expect } from 'vitest';
import { cutShort, endless, errorPage, hang, modelList, reset, stall, type Route } from '../../support/fake-engine.js';
import {
  BACKOFF,
  engineConfig,
  FAILURES_MAX,
  fakeEngine,
  FleetHarness,
  INTERVAL,
  it,
  JOINED,
  probed,
  probing,
  REPORTED,
  TIMEOUT,
  types,
  up,
  VLLM,
} from './fleet-harness.js';
import { until } from './manual-timers.js';

describe('joining', () => {
  it('tells the scheduler of models, capacity and load after the first healthy probe', async () => {
    const { harness } = await probing();
    expect(harness.engine('e').state).toBe('starting');
    await harness.idle();
    expect(harness.take()).toEqual([JOINED, REPORTED]);
    expect(harness.engine('e').models.get('m')).toMatchObject({ id: 'm', owned_by: 'vllm' });
    expect(harness.waits).toEqual([INTERVAL]);
  });

  it('puts the configuration before what the engine says', async () => {
    const facts = { capacityTokens: 50, hostTokens: 400, hostTokensPerSecond: 9 };
    const { harness } = await probing(VLLM, { models: ['mine', 'm'], window: 7, ...facts });
    expect(harness.fleet.serving('mine')).toHaveLength(1);
    await harness.idle();
    const joined = { type: 'engineJoined', engine: 'e', models: ['mine', 'm'] };
    // Calls may wait for it from the start.
    expect(harness.take().slice(0, 2)).toEqual([
      { ...joined, windowMax: 7, ...facts, down: true },
      { ...joined, windowMax: 7, ...facts },
    ]);
    expect(harness.engine('e').models.get('m')).toMatchObject({ owned_by: 'vllm' });
    expect(harness.engine('e').models.get('mine')).toMatchObject({ id: 'mine', object: 'model' });
  });

  it.each([
    [['m'], 'up'],
    [undefined, 'starting'],
  ])('takes a server whose paths are pages for an engine only with configured models: %s', async (models, state) => {
    const page: Route = (response) => response.writeHead(404, { 'content-type': 'text/html' }).end('<p>');
    const { harness } = await probed(page, { kind: 'auto', models });
    expect(harness.engine('e').state).toBe(state);
  });

  it('finds out what an engine is', async () => {
    const routes = {
      '/health': 'ok',
      '/v1/models': modelList(['m'], 'llamacpp'),
      '/slots': '[{"n_ctx":8},{"n_ctx":8}]',
    };
    const { fake, harness } = await probing(routes, { kind: 'auto' });
    expect(harness.engine('e').adapter.kind).toBe('openai');
    await harness.idle();
    expect(harness.engine('e').adapter.kind).toBe('llamacpp');
    expect(new Set(fake.requests).size).toBe(fake.requests.length);
    expect(harness.take()[0]).toMatchObject({ type: 'engineJoined', windowMax: 2, capacityTokens: 16 });
  });

  it('is sure of a kind, and of an unknown capacity, only once every path has answered', async () => {
    const fake = await fakeEngine({ ...VLLM, '/v1/models': modelList(['m'], 'x') });
    const metrics = fake.routes.get('/metrics')!;
    fake.routes.set('/metrics', reset);
    const harness = new FleetHarness(engineConfig({ url: fake.url, id: 'e', kind: 'auto' }));
    await harness.idle();
    expect(harness.engine('e')).toMatchObject({ state: 'up', adapter: { kind: 'openai' } });
    fake.routes.set('/metrics', metrics);
    await harness.probe();
    expect(harness.engine('e').adapter.kind).toBe('vllm');
    expect(harness.take().at(-2)).toMatchObject({ type: 'engineJoined', capacityTokens: 1000 });
    expect(harness.logs.filter(({ level }) => level === 'warn')).toEqual([]);
    fake.routes.set('/metrics', reset);
    for (let i = 0; i < 2; i += 1) await harness.probe();
    expect(harness.engine('e').adapter.kind).toBe('vllm');
  });

  it('warns once that a capacity is unknown', async () => {
    const { fake, harness } = await probed({ '/v1/models': modelList(['m'], 'x') }, { kind: 'auto' });
    expect(harness.take()).toEqual([{ type: 'engineJoined', engine: 'e', models: ['m'] }]);
    expect(harness.logs.filter(({ level }) => level === 'warn')).toEqual([]);
    fake.routes.set('/v1/models', modelList(['m', 'n'], 'x'));
    await harness.probe();
    expect(types(harness.take())).toEqual(['engineJoined']);
    await harness.probe();
    expect(harness.logs.filter(({ level }) => level === 'warn')).toHaveLength(1);
  });

  it('lists a model under its aliases', async () => {
    const models = modelList(['llama:latest'], 'library');
    const { harness } = await probed({ '/api/version': '{"version":"1"}', '/v1/models': models }, { kind: 'ollama' });
    expect(harness.take()[0]).toMatchObject({ models: ['llama:latest', 'llama'] });
    expect(harness.engine('e').models.get('llama')).toMatchObject({ id: 'llama' });
  });

  it('reaches an engine behind a path, with its key', async () => {
    const fake = await fakeEngine({ '/a/b/health': 'ok', '/a/b/v1/models': modelList(['m']) });
    const harness = new FleetHarness(engineConfig({ url: `${fake.url}/a/b/v1/`, id: 'e', apiKey: 'secret' }));
    await harness.idle();
    expect(harness.engine('e')).toMatchObject({ state: 'up', basePath: '/a/b' });
    expect(fake.requests).toContain('GET /a/b/v1/models Bearer secret');
    expect(JSON.stringify(harness.logs)).not.toContain('secret');
  });

  it('waits for a slow start for ever', async () => {
    const { fake, harness } = await probed(503, { kind: 'auto' });
    for (let i = 0; i < 5; i += 1) await harness.probe();
    expect(harness.waits).toEqual([BACKOFF]);
    expect(harness.engine('e').state).toBe('starting');
    expect(harness.take()).toEqual([]);
    fake.all = undefined;
    await harness.probe();
    expect(harness.engine('e')).toMatchObject({ state: 'up', adapter: { kind: 'vllm' } });
    expect(types(harness.take())).toEqual(['engineJoined', 'engineReported']);
    expect(harness.waits).toEqual([INTERVAL]);
    harness.call('e', 'unreached', FAILURES_MAX);
    expect(harness.waits).toEqual([BACKOFF]);
  });

  it.each<[string, Record<string, Route>]>([
    ['lists no models', { ...VLLM, '/v1/models': modelList([]) }],
    ['lists garbage', { ...VLLM, '/v1/models': '<html>' }],
    ['keeps its models to itself', { ...VLLM, '/v1/models': 401 }],
    ['is loading', { ...VLLM, '/health': 503 }],
    ['redirects', { ...VLLM, '/health': 302 }],
    ['resets', { ...VLLM, '/health': reset }],
    ['cuts its answer short', { ...VLLM, '/health': cutShort }],
    ['answers without end', { ...VLLM, '/v1/models': endless(modelList(['m'])) }],
  ])('does not take in an engine that %s', async (_, routes) => {
    const { harness } = await probed(routes);
    expect(harness.engine('e').state).toBe('starting');
    expect(harness.take()).toEqual([]);
  });

  it.each([
    [undefined, 'missing'],
    ['wrong', 'refused'],
  ])('says of an engine alone whose models want a key that it is, with %s, %s', async (apiKey, fault) => {
    const { harness } = await probed({ ...VLLM, '/v1/models': 401 }, { ...(apiKey && { apiKey }) });
    expect(harness.engine('e').trouble?.reason).toBe(`/v1/models answered 401: engines[].apiKey is ${fault}`);
  });

  it.each<[string, Record<string, Route>]>([
    ['has no metrics', { ...VLLM, '/metrics': 404 }],
    ['has garbage for metrics', { ...VLLM, '/metrics': '\0{{{"' }],
    ['has endless metrics', { ...VLLM, '/metrics': endless('vllm:num_requests_waiting 1\n') }],
    ['does not have the health path', { ...VLLM, '/health': 404, '/metrics': 404 }],
  ])('takes in an engine that %s, with unknown capacity', async (_, routes) => {
    const { harness } = await probed(routes);
    expect(harness.take()).toEqual([{ type: 'engineJoined', engine: 'e', models: ['m'] }]);
  });

  it.each([
    ['hang', hang],
    ['stall', stall],
  ])('takes in an engine whose metrics %s', async (_, route) => {
    const { fake, harness } = await probing({ ...VLLM, '/metrics': route });
    await until(() => fake.requests.includes('GET /metrics'));
    harness.timers.advance(TIMEOUT);
    await harness.idle();
    expect(types(harness.take())).toEqual(['engineJoined']);
  });

  it.each([
    ['starting', 2, hang],
    ['up', 1, JSON.stringify({ data: [{ id: 'm' }] })],
  ])('asks an engine that hangs at /health for its models; then it is %s', async (state, hangs, models) => {
    const { fake, harness } = await probing({ '/health': hang, '/v1/models': models }, { kind: 'auto' });
    for (let asked = 1; asked <= hangs; asked += 1) {
      await until(() => fake.requests.length === asked);
      harness.timers.advance(TIMEOUT);
    }
    await harness.idle();
    expect(fake.requests.slice(0, 2)).toEqual(['GET /health', 'GET /v1/models']);
    expect(fake.requests.length === 2).toBe(state === 'starting');
    expect(harness.engine('e').state).toBe(state);
  });

  it('asks an engine that breaks off at /health for nothing else', async () => {
    const { fake, harness } = await probed({ '/health': reset, '/v1/models': modelList(['m']) }, { kind: 'auto' });
    expect([...new Set(fake.requests)]).toEqual(['GET /health']);
    expect(harness.take()).toEqual([]);
  });

  it('takes in an engine with configured models that refuses every question', async () => {
    const { harness } = await probed(401, { kind: 'auto', models: ['m'] });
    expect(harness.take().slice(1)).toEqual([{ type: 'engineJoined', engine: 'e', models: ['m'] }]);
  });
});

describe('reporting', () => {
  it('reports each scrape, and joins again when models or capacity change', async ({ fake, harness }) => {
    const metrics = 'vllm:num_requests_waiting 5\nvllm:kv_cache_usage_perc 0.5\nvllm:num_preemptions_total 3\n';
    fake.routes.set('/metrics', metrics);
    await harness.probe();
    expect(harness.take()).toEqual([{ type: 'engineReported', engine: 'e', waiting: 5, kvUsage: 0.5, preemptions: 3 }]);
    expect(harness.engine('e').load).toEqual({ waiting: 5, kvUsage: 0.5, preemptions: 3, capacityTokens: 1000 });

    fake.routes.set('/v1/models', modelList(['m', 'n']));
    fake.routes.set('/metrics', 404);
    await harness.probe();
    expect(harness.take()).toEqual([{ type: 'engineJoined', engine: 'e', models: ['m', 'n'], capacityTokens: 1000 }]);

    fake.routes.set('/metrics', 'vllm:cache_config_info{block_size="10",num_gpu_blocks="201"} 1');
    await harness.probe();
    expect(harness.take()).toEqual([{ type: 'engineJoined', engine: 'e', models: ['m', 'n'], capacityTokens: 2000 }]);

    fake.routes.set('/v1/models', '<html>');
    await harness.probe();
    expect(harness.take()).toEqual([]);
  });

  it('goes on over connections that brought error pages', async () => {
    const { harness } = await up({ ...VLLM, '/metrics': errorPage });
    for (let i = 0; i < 8; i += 1) await harness.probe();
    expect(harness.engine('e').state).toBe('up');
  });

  it('never has two probes of an engine under way', async () => {
    const { fake, harness } = await up({ ...VLLM, '/health': 'ok' });
    fake.routes.set('/health', hang);
    const before = fake.requests.length;
    harness.timers.advance(INTERVAL);
    await until(() => fake.requests.length > before);
    expect(harness.waits).toEqual([]);
    harness.configure([engineConfig({ url: fake.url, id: 'e', window: 3 })]);
    expect(harness.waits).toEqual([]);
    expect(fake.requests.length).toBe(before + 1);
    fake.routes.set('/health', 'ok');
    harness.timers.advance(TIMEOUT);
    await harness.idle();
    expect(harness.take()[0]).toMatchObject({ type: 'engineJoined', windowMax: 3 });
  });
});
