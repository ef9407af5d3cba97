import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { JSON_TYPE, ask, metrics, until } from '../../sidecar/gateway/world.js';
import {
  NEEDS,
  PATHS,
  VLLM,
  bodyOf,
  engineRow,
  gateway,
  gauge,
  idle,
  labels,
  post,
  programRow,
  running,
  waitingInEngine,
} from './vllm.js';

/** Values that the gateway reads from the engine, sends to it, and charges for. */

/** A server with all slots busy may take seconds to report it. */
const LOADED_MS = 20_000;

interface EngineMetrics {
  readonly time_to_first_token_ms: number;
  readonly generation_time_ms: number;
  readonly queue_time_ms: number;
}

describe.skipIf(VLLM === '')(`vLLM as the gateway sees it${NEEDS}`, () => {
  beforeEach(idle);

  it('is known for what it is, with the capacity that it has', async () => {
    const world = await gateway();
    const config = await labels('cache_config_info');
    const tokens = Number(config.get('num_gpu_blocks')) * Number(config.get('block_size'));
    const row = await engineRow(world);
    expect(row).toMatchObject({ kind: 'vllm', state: 'up', engine_running: 0, engine_waiting: 0, in_flight: 0 });
    // vLLM's own figure includes its null block, which holds nothing.
    expect(row['capacity_tokens']).toBe(Number(config.get('kv_cache_size_tokens')));
    expect(row['capacity_tokens']).toBe(tokens);
  });

  it('sees its load', async () => {
    const world = await gateway();
    const calls = [1, 2].map(() => post(world.url, '/v1/completions', { max_tokens: 1500 }));
    await until(async () => {
      const row = await engineRow(world);
      return row['in_flight'] === 2 && row['engine_running'] === 2 && Number(row['kv_usage']) > 0;
    });
    await Promise.all(calls);
    await until(async () => (await engineRow(world))['engine_running'] === 0);
  });

  it('shrinks an adaptive window when the engine queues', async () => {
    const world = await gateway({ admission: { windowInitial: 64 } });
    const calls = Array.from({ length: 64 }, () => post(world.url, '/v1/completions', { max_tokens: 64 }));
    await until(async () => Number((await engineRow(world))['window']) < 64, LOADED_MS);
    for (const { status } of await Promise.all(calls)) expect(status).toBe(200);
  });

  it('counts tokens as it does', async () => {
    const { url, adminUrl } = await gateway();
    const names = ['prompt_tokens_total', 'generation_tokens_total', 'prefix_cache_hits_total'] as const;
    const before = await Promise.all(names.map(gauge));
    const prompt = `${Date.now()} ${'one two three four '.repeat(60)}`;
    for (const stream of [false, true]) await post(url, '/v1/completions', { prompt, stream });
    await until(async () => (await metrics(adminUrl)).get('maitred_calls_ended_total{outcome="completed"}') === 2);
    const after = await Promise.all(names.map(gauge));
    const own = await metrics(adminUrl);
    const counted = ['prompt_tokens_total', 'output_tokens_total', 'prompt_tokens_cached_total'].map((name) =>
      own.get(`maitred_${name}`),
    );
    expect(counted).toEqual(after.map((value, index) => value - (before[index] ?? 0)));
    expect(counted[2]).toBeGreaterThan(0);
  });

  it.each(PATHS)('%s is charged what the engine measured, and a stream no more than it took', async (path) => {
    const world = await gateway();
    const serviceOf = async (program: string) => {
      const seconds = async () => Number((await programRow(world, program))['attained_service_seconds']);
      await until(async () => (await seconds()) > 0);
      return seconds();
    };
    const startedAt = performance.now();
    await post(world.url, path, { stream: true }, { 'x-maitred-program': 'streams' });
    expect(await serviceOf('streams')).toBeLessThanOrEqual((performance.now() - startedAt) / 1000 + 0.001);
    if (path === '/v1/messages') return;
    const answer = await post(world.url, path, { max_tokens: 40 }, { 'x-maitred-program': 'p' });
    const { metrics: times, usage } = answer.json() as { metrics?: EngineMetrics; usage: { total_tokens: number } };
    expect(times, 'start vLLM with --enable-per-request-metrics').toBeDefined();
    const seconds = (times!.time_to_first_token_ms + times!.generation_time_ms) / 1000;
    expect(await serviceOf('p')).toBeCloseTo(seconds, 2);
    expect((await programRow(world, 'p'))['context_tokens']).toBe(usage.total_tokens);
  });

  it('does not charge for the time in the engine’s own queue', async () => {
    const world = await gateway({ policy: { name: 'pass-through' } });
    const free = await fill();
    const call = post(world.url, '/v1/completions', {}, { 'x-maitred-program': 'p' });
    await until(async () => (await waitingInEngine()) === 1, LOADED_MS);
    free();
    const answer = await call;
    const { metrics: times } = answer.json() as { metrics: EngineMetrics };
    expect(times.queue_time_ms).toBeGreaterThan(0);
    const seconds = (times.time_to_first_token_ms + times.generation_time_ms) / 1000;
    expect(Number((await programRow(world, 'p'))['attained_service_seconds'])).toBeCloseTo(seconds, 2);
  });
});

/**
 * Fills all slots of the engine, and none of its queue. The returned function frees one slot; the others end with the
 * test.
 */
async function fill(): Promise<() => void> {
  const clients: AbortController[] = [];
  onTestFinished(() => {
    for (const client of clients) client.abort();
  });
  const body = await bodyOf('/v1/completions', { max_tokens: 1500 });
  while ((await waitingInEngine()) === 0) {
    const client = new AbortController();
    clients.push(client);
    expect(clients.length).toBeLessThan(300);
    ask(`${VLLM}/v1/completions`, { headers: JSON_TYPE, body, signal: client.signal }).catch(() => undefined);
    await until(async () => (await running()) + (await waitingInEngine()) === clients.length, LOADED_MS);
  }
  clients.pop()?.abort();
  await until(async () => (await waitingInEngine()) === 0, LOADED_MS);
  return () => clients.pop()?.abort();
}
