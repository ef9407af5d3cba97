import type { EngineAdapter } from './adapter.js';
import { loadReport } from './load.js';
import { listsModelsOf } from './models.js';
import { parsePrometheus, valuesOf } from './prometheus.js';

const METRICS_PATH = '/prometheus/metrics';
const RUNNING = 'trtllm_num_requests_running';
const WAITING = 'trtllm_num_requests_waiting';
const KV_USAGE = 'trtllm_kv_cache_utilization';
const BLOCKS = 'trtllm_kv_cache_max_blocks';
const BLOCK_TOKENS = 'trtllm_kv_cache_tokens_per_block';
const ACTIVE_MAX = 'trtllm_max_num_active_requests';
const BATCH_MAX = 'trtllm_max_batch_size_static';
const NAMES = new Set([RUNNING, WAITING, KV_USAGE, BLOCKS, BLOCK_TOKENS, ACTIVE_MAX, BATCH_MAX]);

/** TensorRT-LLM's `trtllm-serve`. `/metrics` is not read, since each read empties it for others. */
export const trtllm: EngineAdapter = {
  kind: 'trtllm',
  healthPath: '/health',
  async recognise(get) {
    return (await listsModelsOf(get, 'tensorrt_llm')) || /^trtllm_/m.test((await get(METRICS_PATH)) ?? '');
  },
  async readLoad(get) {
    const samples = parsePrometheus(await get(METRICS_PATH), NAMES);
    // Only the first rank reports; a dead worker process may have left a smaller value behind.
    const value = (name: string) => (samples.has(name) ? Math.max(...valuesOf(samples, name)) : undefined);
    return loadReport({
      running: value(RUNNING),
      waiting: value(WAITING),
      kvUsage: value(KV_USAGE),
      capacityTokens: (value(BLOCKS) ?? NaN) * (value(BLOCK_TOKENS) ?? NaN),
      windowMax: value(ACTIVE_MAX) ?? value(BATCH_MAX),
    });
  },
};
