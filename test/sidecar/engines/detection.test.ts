import { describe, expect, it } from 'vitest';
import { detect, ADAPTERS } from '../../../sidecar/engines/adapters.js';
import { cannedGet, modelList } from '../../support/fake-engine.js';

describe('detection', () => {
  it.each([
    ['vllm by its model list', 'vllm', { '/v1/models': modelList(['m'], 'vllm') }],
    [
      'vllm by its metrics',
      'vllm',
      { '/v1/models': modelList(['m'], 'me'), '/metrics': 'vllm:num_requests_waiting 0' },
    ],
    [
      'vllm whose model list needs a key',
      'vllm',
      { '/metrics': '# TYPE a gauge\nvllm:num_requests_running{engine="0"} 8.0' },
    ],
    ['sglang by its model list', 'sglang', { '/v1/models': modelList(['m'], 'sglang') }],
    ['sglang by its metrics', 'sglang', { '/metrics': 'sglang:num_queue_reqs 0' }],
    ['trtllm by its model list', 'trtllm', { '/v1/models': modelList(['m'], 'tensorrt_llm'), '/metrics': '[]' }],
    ['trtllm by its metrics', 'trtllm', { '/prometheus/metrics': '# HELP\ntrtllm_request_success_total 1' }],
    ['llamacpp by its model list', 'llamacpp', { '/v1/models': modelList(['m'], 'llamacpp') }],
    ['llamacpp by its properties', 'llamacpp', { '/props': '{"total_slots":1}' }],
    ['ollama by its greeting', 'ollama', { '/': 'Ollama is running' }],
    ['ollama by its version', 'ollama', { '/api/version': '{"version":"0.12.6"}' }],
    [
      'anything else',
      'openai',
      { '/v1/models': modelList(['m'], 'transformers'), '/': '<html>', '/metrics': 'process_cpu 1' },
    ],
    [
      'garbage everywhere',
      'openai',
      { '/v1/models': '{"data":7}', '/props': '[', '/api/version': 'null', '/metrics': '{}' },
    ],
    ['nothing at all', 'openai', {}],
  ])('finds %s', async (_, kind, answers) => {
    expect((await detect(cannedGet(answers))).kind).toBe(kind);
  });
});

const { vllm, sglang } = ADAPTERS;

describe('vLLM', () => {
  const NONE = 'vllm:cache_config_info{block_size="16",kv_offloading_size="None",num_gpu_blocks="401"} 1.0\n';
  const HOST = `${NONE.replace('"None"', '"2.0"')}vllm:external_prefix_cache_queries_total{engine="0"} 2000
vllm:kv_offload_store_bytes_total{engine="0"} 5e6
`;
  const LOADED = `${HOST}vllm:external_prefix_cache_hits_total{engine="0"} 896\nvllm:kv_offload_load_bytes_total{engine="0"} 1835008\n`;

  it.each([
    ['with two digits once a load has shown the size of a token', LOADED, 1_000_000],
    ['not before a load', HOST, undefined],
    [
      'not without the size of the tier',
      LOADED.replace('kv_offloading_size="2.0"', 'kv_offloading_size="None"'),
      undefined,
    ],
    ['not of a size that is none', LOADED.replace('kv_offloading_size="2.0"', 'kv_offloading_size="-1"'), undefined],
    ['not after loads of nothing', LOADED.replace(' 1835008', ' 0'), undefined],
    ['not of one that it lacks', NONE, undefined],
  ])('reads the size of its host tier, %s', async (_, metrics, tokens) => {
    expect((await vllm.readLoad(cannedGet({ '/metrics': metrics }))).hostTokens).toBe(tokens);
  });

  it('names its host tier, its own or another', async () => {
    const nameOf = (metrics: string) => vllm.hostTier?.(cannedGet({ '/metrics': metrics }));
    expect(await nameOf(HOST)).toContain('own');
    expect(await nameOf('vllm:external_prefix_cache_queries_total 5\n')).toContain('connector');
    expect(await nameOf('vllm:external_prefix_cache_queries_total 0\n')).toBeUndefined();
    expect(await nameOf('vllm:lmcache_mp_lookup_duration_seconds_count 0\n')).toBe('LMCache');
  });
});

describe('SGLang', () => {
  it.each([
    [
      'as its ratio to the KV cache',
      { enable_hierarchical_cache: true, hicache_ratio: 2, hicache_size: 0 },
      2000,
      'HiCache',
    ],
    [
      'not where a flag sizes it',
      { enable_hierarchical_cache: true, hicache_ratio: 2, hicache_size: 30 },
      undefined,
      'HiCache',
    ],
    ['not where it is off', { enable_hierarchical_cache: false, hicache_ratio: 2 }, undefined, undefined],
    ['not of a ratio that is none', { enable_hierarchical_cache: true, hicache_ratio: 'x' }, undefined, 'HiCache'],
  ])('reads the size of its host tier, %s', async (_, info, tokens, name) => {
    const get = cannedGet({ '/server_info': info, '/v1/loads': { loads: [{ max_total_num_tokens: 1000 }] } });
    expect((await (await sglang.fit!(get)).readLoad(get)).hostTokens).toBe(tokens);
    expect(await sglang.hostTier!(get)).toBe(name);
  });
});
