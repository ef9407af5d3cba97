import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until, world } from '../../sidecar/gateway/world.js';
import { ADAPTERS } from '../../../sidecar/engines/adapters.js';
import { NEEDS_VENV, offloading, serve, type Served } from './served.js';

/**
 * vLLM's own offloading to host memory, on a CPU, where `host_tier.py` is the link.
 * The KV cache holds two of the prompts, and host memory all of them.
 */
describe.skipIf(NEEDS_VENV !== '')(`vLLM with a host tier${NEEDS_VENV}`, () => {
  const paramsPath = join(tmpdir(), `maitred-params-${process.pid}.jsonl`);
  let engine: Served;
  beforeAll(async () => {
    engine = await serve(65, offloading({ params_path: paramsPath }));
  }, 300_000);
  afterAll(() => engine.end());

  it('brings back what was evicted, and counts hits by tier', async () => {
    const first = await engine.complete('a', 900);
    for (const name of ['b', 'c', 'd']) await engine.complete(name, 900);
    const names = ['external_prefix_cache_hits_total', 'prefix_cache_hits_total'];
    const [hits = NaN, device] = await Promise.all(names.map((name) => engine.metric(name)));
    const again = await engine.complete('a', 900);
    expect(first.cached).toBe(0);
    expect(again.cached).toBeGreaterThanOrEqual(800);
    expect(again.text).toBe(first.text);
    expect(await engine.metric('external_prefix_cache_hits_total')).toBe(hits + again.cached);
    expect(await engine.metric('prefix_cache_hits_total')).toBe(device);
    expect(await engine.metric('prompt_tokens_cached_by_source_total', 'source="host"')).toBeGreaterThanOrEqual(
      again.cached,
    );
    expect(await engine.metric('kv_offload_load_bytes_total')).toBeGreaterThan(0);
    expect(await engine.metric('kv_offload_store_bytes_total')).toBeGreaterThan(0);
  });

  it('gets the hints of calls through the gateway whole', async () => {
    const retain = {
      action_id: 'a',
      action_type: 'kv.retain',
      action_version: '1.0',
      payload: { session: 's', ttl: 60 },
    };
    const hint = { protocol_version: '1.0', message_id: 'm1', actions: [retain] };
    const { url } = await world([], { engines: [{ url: engine.url }], health: { intervalMs: 100 } });
    await until(async () => (await fetch(`${url}/readyz`)).ok);
    expect((await engine.complete('i', 100, { kv_transfer_params: { kv_hint: hint } }, url)).status).toBe(200);
    const seen = readFileSync(paramsPath, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { kv_hint?: unknown } | null);
    expect(seen.map((params) => params?.kv_hint)).toContainEqual(hint);
  });

  it('is known to the gateway as an engine with a host tier', async () => {
    const get = async (path: string) => (await fetch(engine.url + path)).text();
    expect(await ADAPTERS.vllm.hostTier?.(get)).toContain('own');
  });
});

describe.skipIf(NEEDS_VENV !== '')(`vLLM with a slow link to its host tier${NEEDS_VENV}`, () => {
  let engine: Served;
  beforeAll(async () => {
    // A prompt takes two to three seconds.
    engine = await serve(65, offloading({ bytes_per_second: 3e6 }));
  }, 300_000);
  afterAll(() => engine.end());

  it('waits for its content without running anything, which is no stall', async () => {
    for (const name of ['a', 'b', 'c', 'd']) await engine.complete(name, 900);
    // Stores share the link, and a load waits for those of its own content.
    await until(async () => (await engine.metric('kv_offload_store_bytes_total')) > 29e6, 60_000);
    const back = engine.complete('a', 900);
    await until(
      async () =>
        (await engine.metric('num_requests_waiting')) === 1 && (await engine.metric('num_requests_running')) === 0,
    );
    // Others are served meanwhile.
    expect((await engine.complete('z', 20)).cached).toBe(0);
    expect((await back).cached).toBeGreaterThanOrEqual(800);
  });
});
