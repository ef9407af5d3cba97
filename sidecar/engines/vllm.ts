import { isObject, objectOf } from '../apis/fields.js';
import { CACHE, type EngineAdapter, type LoadReport, type Timings } from './adapter.js';
import { asCount, loadReport, mean, sum } from './load.js';
import { listedContextTokensMax, listsModelsOf } from './models.js';
import { samplesOf, valuesOf, type Sample } from './prometheus.js';

const CACHE_CONFIG = 'vllm:cache_config_info';
/** Of a KV connector; bytes by vLLM's own offloading alone. */
const EXTERNAL_QUERIES = 'vllm:external_prefix_cache_queries_total';
const EXTERNAL_HITS = 'vllm:external_prefix_cache_hits_total';
const LOADED_BYTES = 'vllm:kv_offload_load_bytes_total';
const STORED_BYTES = 'vllm:kv_offload_store_bytes_total';

/** vLLM. Its metrics do not report `max_num_seqs`, so the window stays adaptive. */
export const vllm: EngineAdapter = {
  kind: 'vllm',
  healthPath: '/health',
  async recognise(get) {
    return (await listsModelsOf(get, 'vllm')) || /^vllm:/m.test((await get('/metrics')) ?? '');
  },
  async readLoad(get): Promise<LoadReport> {
    const [metrics, contextTokensMax] = await Promise.all([get('/metrics'), listedContextTokensMax(get)]);
    const values = (name: string) => valuesOf(metrics, `vllm:${name}`);
    return loadReport({
      running: sum(values('num_requests_running')),
      waiting: sum(values('num_requests_waiting')),
      // The second name is that before v0.9; some versions write both.
      kvUsage: mean(values('kv_cache_usage_perc')) ?? mean(values('gpu_cache_usage_perc')),
      preemptions: sum(values('num_preemptions_total')),
      generatedTokens: sum(values('generation_tokens_total')),
      capacityTokens: capacityTokens(metrics),
      hostTokens: hostTokens(metrics),
      contextTokensMax,
    });
  },
  async hostTier(get) {
    const metrics = await get('/metrics');
    if (/^vllm:lmcache_/m.test(metrics ?? '')) return 'LMCache';
    if (valuesOf(metrics, STORED_BYTES).length > 0) return 'vLLM’s own offloading';
    return valuesOf(metrics, EXTERNAL_QUERIES).some((value) => value > 0) ? 'a KV connector' : undefined;
  },
  async flags(get, answer) {
    const [cache] = samplesOf(await get('/metrics'), CACHE_CONFIG);
    const caching = cache?.labels.get('enable_prefix_caching')?.toLowerCase();
    const details = objectOf(answer?.['usage'])['prompt_tokens_details'];
    const seen = (found: unknown) => (answer === undefined ? undefined : isObject(found));
    return [
      { flag: '--enable-prefix-caching', isOn: caching === undefined ? undefined : caching === 'true', gives: CACHE },
      { flag: '--enable-per-request-metrics', isOn: seen(answer?.['metrics']), gives: 'exact service times' },
      { flag: '--enable-prompt-tokens-details', isOn: seen(details), gives: 'measured cache hits' },
    ];
  },
  readTimings(answer): Timings {
    const metrics = objectOf(answer['metrics'] ?? objectOf(answer['response'])['metrics']);
    // `time_to_first_token_ms` counts from the first scheduling, `generation_time_ms` from the first token.
    const prefillMs = asCount(metrics['time_to_first_token_ms']);
    const decodeMs = asCount(metrics['generation_time_ms']) ?? 0;
    const queueMs = asCount(metrics['queue_time_ms']);
    return {
      ...(prefillMs !== undefined && { serviceMs: prefillMs + decodeMs }),
      ...(queueMs !== undefined && { queueMs }),
    };
  },
};

/**
 * KV capacity of all data-parallel ranks; each rank has a sample. The newer `kv_cache_size_tokens` is one rank's, and
 * correct for hybrid models too. The older `num_gpu_blocks` is the ranks' sum; one block of each is the null block.
 */
function capacityTokens(metrics: string | undefined): number | undefined {
  const ranks = samplesOf(metrics, CACHE_CONFIG);
  const exact = sum(ranks.map((rank) => label(rank, 'kv_cache_size_tokens')));
  if (exact !== undefined) return exact;
  const [blocks = NaN, blockSize = NaN] = ['num_gpu_blocks', 'block_size'].map((name) => label(ranks[0], name));
  return (blocks - ranks.length) * blockSize;
}

/** Capacity of vLLM's own host tier: its GiB by the size of a token, which loads show. Two digits are certain. */
function hostTokens(metrics: string | undefined): number | undefined {
  const total = (name: string) => sum(valuesOf(metrics, name)) ?? 0;
  const ranks = samplesOf(metrics, CACHE_CONFIG);
  const bytes =
    (sum(ranks.map(({ labels }) => asCount(Number(labels.get('kv_offloading_size') ?? NaN)))) ?? 0) * 2 ** 30;
  const found = bytes * (total(EXTERNAL_HITS) / total(LOADED_BYTES));
  return found > 0 && found < Infinity ? Number(found.toPrecision(2)) : undefined;
}

function label(sample: Sample | undefined, name: string): number | undefined {
  const value = sample?.labels.get(name);
  return value !== undefined && /^\d+$/.test(value) ? Number(value) : undefined;
}
