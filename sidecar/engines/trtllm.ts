import type { EngineAdapter } from './adapter.js';
import { loadReport } from './load.js';
import { listsModelsOf } from './models.js';
import { valuesOf } from './prometheus.js';

const METRICS_PATH = '/prometheus/metrics';

/** TensorRT-LLM's `trtllm-serve`. `/metrics` is not read, since each read empties it for others. */
export const trtllm: EngineAdapter = {
  kind: 'trtllm',
  healthPath: '/health',
  async recognise(get) {
    return (await listsModelsOf(get, 'tensorrt_llm')) || /^trtllm_/m.test((await get(METRICS_PATH)) ?? '');
  },
  async readLoad(get) {
    const metrics = await get(METRICS_PATH);
    // Only the first rank reports; a dead worker process may have left a smaller value behind.
    const value = (name: string) => valuesOf(metrics, `trtllm_${name}`).sort((a, b) => b - a)[0];
    return loadReport({
      running: value('num_requests_running'),
      waiting: value('num_requests_waiting'),
      kvUsage: value('kv_cache_utilization'),
      capacityTokens: (value('kv_cache_max_blocks') ?? NaN) * (value('kv_cache_tokens_per_block') ?? NaN),
      windowMax: value('max_num_active_requests') ?? value('max_batch_size_static'),
    });
  },
};
