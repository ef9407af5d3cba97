import type { JsonObject } from '../apis/api.js';
import { isObject, listOf, objectOf, parseObject } from '../apis/fields.js';
import { CACHE, type EngineAdapter, type Get, type LoadReport } from './adapter.js';
import { asCount, loadReport, mean, sum } from './load.js';
import { listedContextTokensMax, listsModelsOf, MODELS_PATH } from './models.js';
import { samplesOf } from './prometheus.js';

const RID_PATHS = new Set(['/v1/chat/completions', '/v1/completions']);

/** SGLang. The model list is its health check: `/health` is slow, and fails in a long prefill. */
export const sglang: EngineAdapter = {
  kind: 'sglang',
  healthPath: MODELS_PATH,
  async recognise(get) {
    return (await listsModelsOf(get, 'sglang')) || /^sglang[:_]/m.test((await get('/metrics')) ?? '');
  },
  fit: async (get) => withHost(await serverInfo(get)),
  hostTier: async (get) => ((await serverInfo(get))?.['enable_hierarchical_cache'] === true ? 'HiCache' : undefined),
  async flags(get) {
    const [info, metrics] = await Promise.all([serverInfo(get), get('/metrics')]);
    const isOn = (field: string) => (info?.[field] === undefined ? undefined : info[field] === true);
    const withoutCache = isOn('disable_radix_cache');
    return [
      { flag: 'no --disable-radix-cache', isOn: withoutCache === undefined ? undefined : !withoutCache, gives: CACHE },
      { flag: '--enable-cache-report', isOn: isOn('enable_cache_report'), gives: 'measured cache hits' },
      { flag: '--enable-metrics', isOn: metrics !== undefined, gives: 'load reports' },
    ];
  },
  async readLoad(get) {
    const [loads, metrics, contextTokensMax] = await Promise.all([
      readLoads(get),
      readMetrics(get),
      listedContextTokensMax(get),
    ]);
    const report = { ...metrics, ...loads, ...loadReport({ contextTokensMax }) };
    return report.capacityTokens === undefined ? { ...report, ...(await readServerInfo(get)) } : report;
  },
  abort: {
    fields: (requestId, path) => (RID_PATHS.has(path) ? { rid: requestId } : {}),
    request: (requestId) => ({ path: '/abort_request', body: JSON.stringify({ rid: requestId }) }),
  },
};

/** HiCache's host pool is sized by the KV cache, unless its flag names gigabytes. */
function withHost(info: JsonObject | undefined): EngineAdapter {
  const ratio = asCount(info?.['hicache_ratio']);
  const isSized = info?.['enable_hierarchical_cache'] !== true || (asCount(info['hicache_size']) ?? 0) > 0;
  if (isSized || ratio === undefined) return sglang;
  const readLoad = async (get: Get) => {
    const load = await sglang.readLoad(get);
    return { ...load, ...loadReport({ hostTokens: load.capacityTokens && ratio * load.capacityTokens }) };
  };
  return { ...sglang, readLoad };
}

/** @param waiting its name there; others are the same in both, and what is not there is not known */
const reportOf = (waiting: string, values: (name: string) => readonly (number | undefined)[]): LoadReport =>
  loadReport({
    running: sum(values('num_running_reqs')),
    waiting: sum(values(waiting)),
    kvUsage: mean(values('token_usage')),
    capacityTokens: sum(values('max_total_num_tokens')),
    windowMax: sum(values('max_running_requests')),
    preemptions: sum(values('num_retracted_requests_total')),
  });

async function readLoads(get: Get): Promise<LoadReport> {
  const ranks = listOf(parseObject(await get('/v1/loads'))?.['loads']).filter(isObject);
  return reportOf('num_waiting_reqs', (field) => ranks.map((rank) => asCount(rank[field])));
}

async function readMetrics(get: Get): Promise<LoadReport> {
  const metrics = await get('/metrics');
  // Both prefixes are in use. Tensor-parallel ranks report the same requests, so only rank 0 counts.
  return reportOf('num_queue_reqs', (name) =>
    (['sglang:', 'sglang_'].map((prefix) => samplesOf(metrics, prefix + name)).find(({ length }) => length > 0) ?? [])
      .filter(({ labels }) => (labels.get('tp_rank') ?? '0') === '0')
      .map(({ value }) => value),
  );
}

async function readServerInfo(get: Get): Promise<LoadReport> {
  const states = listOf((await serverInfo(get))?.['internal_states']).filter(isObject);
  return loadReport({
    capacityTokens: sum(states.map((state) => asCount(objectOf(state['memory_usage'])['token_capacity']))),
    windowMax: sum(states.map((state) => asCount(state['effective_max_running_requests_per_dp']))),
  });
}

/** Before v0.5.6 the path was `/get_server_info`. */
const serverInfo = async (get: Get): Promise<JsonObject | undefined> =>
  parseObject((await get('/server_info')) ?? (await get('/get_server_info')));
