import { describe, expect, it } from 'vitest';
import type { Get } from '../../../sidecar/engines/adapter.js';
import { ADAPTERS } from '../../../sidecar/engines/adapters.js';
import { cannedGet } from '../../support/fake-engine.js';

const { vllm, sglang, trtllm, llamacpp, ollama } = ADAPTERS;
const CHAT = '/v1/chat/completions';

const nothing = cannedGet({});

const VLLM_NEW = `# HELP vllm:num_requests_running Number of requests in model execution batches.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="m"} 8.0
vllm:num_requests_waiting{engine="0",model_name="m"} 3.0
vllm:num_requests_waiting_by_reason{engine="0",model_name="m",reason="capacity"} 3.0
vllm:kv_cache_usage_perc{engine="0",model_name="m"} 0.625
vllm:gpu_cache_usage_perc{engine="0",model_name="m"} 0.9
vllm:num_preemptions_total{engine="0",model_name="m"} 12.0
vllm:num_preemptions_created{engine="0",model_name="m"} 1.7e+09
vllm:cache_config_info{block_size="32",cache_dtype="auto",engine="0",kv_cache_size_tokens="12800",num_gpu_blocks="401",num_gpu_blocks_override="None"} 1.0
`;
const VLLM_OLD = `vllm:cache_config_info{block_size="16",cache_dtype="auto",num_gpu_blocks="2001"} 1.0
vllm:num_requests_running{model_name="m"} 1.0
vllm:num_requests_waiting{model_name="m"} 0.0
vllm:gpu_cache_usage_perc{model_name="m"} 1.01
`;
const VLLM_TWO_RANKS = `vllm:num_requests_running{engine="0",model_name="m"} 2.0
vllm:num_requests_running{engine="1",model_name="m"} 3.0
vllm:num_requests_waiting{engine="0",model_name="m"} 0.0
vllm:num_requests_waiting{engine="1",model_name="m"} 4.0
vllm:kv_cache_usage_perc{engine="0",model_name="m"} 0.2
vllm:kv_cache_usage_perc{engine="1",model_name="m"} 0.6
vllm:num_preemptions_total{engine="0",model_name="m"} 1.0
vllm:num_preemptions_total{engine="1",model_name="m"} 2.0
`;
const rank = (engine: number, tokens: string) =>
  `vllm:cache_config_info{block_size="16",engine="${engine}",kv_cache_size_tokens="${tokens}",num_gpu_blocks="2002"} 1.0\n`;

describe('vLLM', () => {
  it('reads load and capacity of new versions, by the new of two names', async () => {
    expect(await vllm.readLoad(cannedGet({ '/metrics': VLLM_NEW }))).toEqual({
      running: 8,
      waiting: 3,
      kvUsage: 0.625,
      preemptions: 12,
      capacityTokens: 12_800,
    });
  });

  it('reads the metric names of old versions, leaves the null block out of the capacity, and holds a share to 1', async () => {
    expect(await vllm.readLoad(cannedGet({ '/metrics': VLLM_OLD }))).toEqual({
      running: 1,
      waiting: 0,
      kvUsage: 1,
      capacityTokens: 2000 * 16,
    });
  });

  it('reads the longest context of its models, where each says one', async () => {
    const list = (...lengths: (number | undefined)[]) =>
      JSON.stringify({ data: lengths.map((length, index) => ({ id: `m${index}`, max_model_len: length })) });
    const read = (text: string) => vllm.readLoad(cannedGet({ '/v1/models': text }));
    expect(await read(list(4096, 8192))).toEqual({ contextTokensMax: 8192 });
    expect(await read(list(4096, undefined))).toEqual({});
    expect(await read(list())).toEqual({});
    expect(await sglang.readLoad(cannedGet({ '/v1/models': list(4096) }))).toEqual({ contextTokensMax: 4096 });
  });

  it('reads the longest context beside LoRA adapters, which are listed without one', async () => {
    const base = { id: 'base', parent: null, max_model_len: 4096 };
    const text = JSON.stringify({ data: [base, { id: 'sql-lora', parent: 'base', max_model_len: null }] });
    expect(await vllm.readLoad(cannedGet({ '/v1/models': text }))).toEqual({ contextTokensMax: 4096 });
  });

  it('adds up data-parallel ranks, and averages their shares', async () => {
    const load = await vllm.readLoad(cannedGet({ '/metrics': VLLM_TWO_RANKS + rank(0, '16000') + rank(1, '16000') }));
    expect(load).toEqual({ running: 5, waiting: 4, kvUsage: 0.4, preemptions: 3, capacityTokens: 32_000 });
  });

  it('does not add up block counts, which each rank states for all', async () => {
    const load = await vllm.readLoad(cannedGet({ '/metrics': rank(0, 'None') + rank(1, 'None') }));
    expect(load).toEqual({ capacityTokens: 2000 * 16 });
  });

  it('adds prefill and decode to the service, without the queue', () => {
    const metrics = { time_to_first_token_ms: 100.5, generation_time_ms: 400, queue_time_ms: 20, mean_itl_ms: 4 };
    expect(vllm.readTimings?.({ metrics })).toEqual({ serviceMs: 500.5, queueMs: 20 });
    const completed = { type: 'response.completed', response: { metrics } };
    expect(vllm.readTimings?.(completed)).toEqual({ serviceMs: 500.5, queueMs: 20 });
    const cut = { ...metrics, generation_time_ms: null };
    expect(vllm.readTimings?.({ metrics: cut })).toEqual({ serviceMs: 100.5, queueMs: 20 });
    expect(vllm.readTimings?.({ metrics: { time_to_first_token_ms: null, queue_time_ms: -1 } })).toEqual({});
    expect(vllm.readTimings?.({ usage: {} })).toEqual({});
  });
});

describe('SGLang', () => {
  const rankOf = (dp_rank: number, running: number, waiting: number, token_usage: number) => ({
    dp_rank,
    num_running_reqs: running,
    num_waiting_reqs: waiting,
    token_usage,
    max_total_num_tokens: 1000,
    max_running_requests: 64,
  });
  const ranks = [rankOf(0, 5, 2, 0.4), rankOf(1, 1, 0, 0.2)];
  const loads = { timestamp: '2026-01-12T10:30:00+00:00', dp_rank_count: 2, loads: ranks };
  const metrics = `sglang:num_running_reqs{model_name="m",tp_rank="0"} 4.0
sglang:num_running_reqs{model_name="m",tp_rank="1"} 4.0
sglang:num_queue_reqs{model_name="m",tp_rank="0"} 2.0
sglang:token_usage{model_name="m",tp_rank="0"} 0.28
sglang:num_retracted_reqs{model_name="m",tp_rank="0"} 1.0
sglang:num_retracted_requests_total{model_name="m",tp_rank="0"} 9.0
`;

  it('reads /v1/loads, and preemptions from the metrics', async () => {
    const load = await sglang.readLoad(cannedGet({ '/v1/loads': loads, '/metrics': metrics }));
    expect(load).toMatchObject({ running: 6, waiting: 2, capacityTokens: 2000, windowMax: 128, preemptions: 9 });
    expect(load.kvUsage).toBeCloseTo(0.3);
  });

  it('reads metrics without adding up tensor-parallel ranks, and capacity from the server info', async () => {
    const state = { memory_usage: { token_capacity: 20_480 }, effective_max_running_requests_per_dp: 128 };
    const info = { internal_states: [state] };
    expect(await sglang.readLoad(cannedGet({ '/metrics': metrics, '/get_server_info': info }))).toEqual({
      running: 4,
      waiting: 2,
      kvUsage: 0.28,
      preemptions: 9,
      capacityTokens: 20_480,
      windowMax: 128,
    });
  });

  it('reads the other metric namespace', async () => {
    const text = 'sglang_num_queue_reqs 3\nsglang_max_total_num_tokens 4096\n';
    expect(await sglang.readLoad(cannedGet({ '/metrics': text }))).toEqual({ waiting: 3, capacityTokens: 4096 });
  });

  it('aborts by the request id that it sent along', () => {
    expect(sglang.abort?.fields('r1', CHAT)).toEqual({ rid: 'r1' });
    expect(sglang.abort?.fields('r1', '/v1/messages')).toEqual({});
    expect(sglang.abort?.request('r1')).toEqual({ path: '/abort_request', body: '{"rid":"r1"}' });
  });
});

describe('TensorRT-LLM', () => {
  it('reads its Prometheus path', async () => {
    const text = `trtllm_num_requests_running{engine_type="trtllm",model_name="m",pid="1"} 5.0
trtllm_num_requests_waiting{engine_type="trtllm",model_name="m",pid="1"} 2.0
trtllm_kv_cache_utilization{engine_type="trtllm",model_name="m",pid="1"} 0.62
trtllm_kv_cache_max_blocks{engine_type="trtllm",model_name="m",pid="1"} 1000.0
trtllm_kv_cache_tokens_per_block{engine_type="trtllm",model_name="m",pid="1"} 32.0
trtllm_kv_cache_tokens_per_block{engine_type="trtllm",model_name="m",pid="2"} 0.0
trtllm_max_num_active_requests{engine_type="trtllm",model_name="m",pid="1"} 64.0
`;
    expect(await trtllm.readLoad(cannedGet({ '/prometheus/metrics': text }))).toEqual({
      running: 5,
      waiting: 2,
      kvUsage: 0.62,
      capacityTokens: 32_000,
      windowMax: 64,
    });
  });
});

describe('llama.cpp', () => {
  const slot = (id: number, busy: boolean) => ({ id, n_ctx: 8192, is_processing: busy });

  it('reads slots, and what waits from the metrics', async () => {
    const answers = {
      '/slots': [slot(0, true), slot(1, false)],
      '/metrics': 'llamacpp:requests_processing 1\nllamacpp:requests_deferred 4\n',
    };
    expect(await llamacpp.readLoad(cannedGet(answers))).toEqual({
      running: 1,
      waiting: 4,
      capacityTokens: 16_384,
      contextTokensMax: 8192,
      windowMax: 2,
    });
  });

  it('reads /props where slots are switched off', async () => {
    const props = { total_slots: 4, default_generation_settings: { n_ctx: 1024 } };
    expect(await llamacpp.readLoad(cannedGet({ '/props': props }))).toEqual({
      capacityTokens: 4096,
      contextTokensMax: 1024,
      windowMax: 4,
    });
  });

  it('reads timings and counts, the cached part of the prompt on top', () => {
    const timings = { cache_n: 236, prompt_n: 14, prompt_ms: 30.5, predicted_n: 35, predicted_ms: 661.5 };
    expect(llamacpp.readTimings?.({ timings })).toEqual({ serviceMs: 692 });
    expect(llamacpp.readUsage?.({ timings })).toEqual({ promptTokens: 250, outputTokens: 35, cachedTokens: 236 });
    expect(llamacpp.readTimings?.({})).toEqual({});
    expect(llamacpp.readUsage?.({ timings: { prompt_n: 'x' } })).toBeUndefined();
  });
});

describe('Ollama', () => {
  it('reads nanoseconds and its own names of counts', () => {
    const answer = {
      done: true,
      prompt_eval_count: 26,
      prompt_eval_duration: 130_079_000,
      eval_count: 259,
      eval_duration: 4_232_710_000,
    };
    expect(ollama.readTimings?.(answer)).toEqual({ serviceMs: 4362.789 });
    expect(ollama.readUsage?.(answer)).toEqual({ promptTokens: 26, outputTokens: 259 });
    expect(ollama.readUsage?.({ usage: {} })).toBeUndefined();
  });

  it('takes the names of its models without their default tag too', () => {
    expect(ollama.aliases?.('llama3.2:latest')).toEqual(['llama3.2']);
    expect(ollama.aliases?.('llama3.2:1b')).toEqual([]);
  });
});

describe.each(Object.values(ADAPTERS))('$kind', (adapter) => {
  const garbage: Get = (path) =>
    Promise.resolve(['\0', '[[{}]]', '{"loads":{},"internal_states":7}', 'null'][path.length % 4]);

  it('has nothing to say of a server that answers nothing, or garbage', async () => {
    expect(await adapter.readLoad(nothing)).toEqual({});
    expect(await adapter.readLoad(garbage)).toEqual({});
  });

  it('reads no times and no usage from answers that hold none', () => {
    const odd = { timings: null, eval_count: 'x', prompt_eval_duration: NaN };
    for (const answer of [{}, { metrics: [], timings: 'x' }, odd]) {
      expect(adapter.readTimings?.(answer) ?? {}).toEqual({});
      expect(adapter.readUsage?.(answer)).toBeUndefined();
    }
  });
});
