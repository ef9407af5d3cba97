import type { IncomingHttpHeaders } from 'node:http';
import { Counter, Gauge, Registry } from 'prom-client';
import type { Engine } from '../engine/engine.js';
import type { Sequence } from '../engine/sequence.js';
import type { Settings } from '../options.js';

/** A record being written. */
export interface OpenRecord {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Only with `recordBodies`. */
  body?: string;
  /** Whether the client left before its answer was complete. */
  disconnected: boolean;
  /**
   * A function, because sequences go on. Replaced by a constant once they have ended, so that a record does not retain
   * its prompt.
   */
  sequences: () => readonly SequenceRecord[];
}

export type EngineStats = Readonly<ReturnType<StatsBook['read']>>;

/** Statistics of an engine's use, for tests. Bounded by `limit` records. */
export class StatsBook {
  #requests = 0;
  readonly #records: OpenRecord[] = [];

  constructor(private readonly limit: number) {}

  open(path: string, headers: IncomingHttpHeaders): OpenRecord {
    const record: OpenRecord = { path, headers, disconnected: false, sequences: () => [] };
    this.#requests += 1;
    this.#records.push(record);
    if (this.#records.length > this.limit) this.#records.shift();
    return record;
  }

  read(engine: Engine) {
    return {
      ...engine.totals,
      /** POST requests to generating paths, refused and misbehaved ones included. */
      requests: this.#requests,
      running: engine.running,
      waiting: engine.waiting,
      kvBlocksUsed: engine.kv.size - engine.kv.free,
      /** The latest requests, oldest first. */
      records: this.#records.map((record) => ({ ...record, sequences: record.sequences() })),
    };
  }
}

/** One answer inside a request, in the engine's terms. Times are milliseconds of model time, NaN where not reached. */
export function sequenceRecord(sequence: Sequence) {
  return {
    state: sequence.state,
    promptTokens: sequence.work.promptTokens,
    cachedTokens: sequence.cachedTokens,
    outputTokens: sequence.work.outputTokens,
    generatedTokens: sequence.generated,
    preemptions: sequence.preemptions,
    arrivedAtMs: sequence.arrivedAt,
    endedAtMs: sequence.endedAt,
  };
}

export type SequenceRecord = Readonly<ReturnType<typeof sequenceRecord>>;

/** `/metrics` under vLLM's names and labels, so that scrapers of a real server can read this one. */
export function metricsOf(engine: Engine, { tier, preset, blockSize }: Settings, model: string): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ engine: '0', model_name: model });
  /** A counter's name ends in `_total`. */
  const metric = (name: string, help: string, read: () => number): void => {
    const terms = {
      name: `vllm:${name}`,
      help,
      registers: [registry],
      collect(this: Counter | Gauge) {
        this.reset();
        this.inc(read());
      },
    };
    const Metric = name.endsWith('_total') ? Counter : Gauge;
    new Metric(terms);
  };
  const { totals, kv, host } = engine;
  metric('num_requests_running', 'Requests in the batch.', () => engine.running);
  metric('num_requests_waiting', 'Requests waiting to be scheduled.', () => engine.waiting);
  metric('kv_cache_usage_perc', 'Share of KV blocks in use, 1 being all.', () => 1 - kv.free / kv.size);
  metric('prefix_cache_queries_total', 'Tokens looked up in the prefix cache.', () => totals.queriedTokens);
  metric('prefix_cache_hits_total', 'Tokens found in the prefix cache.', () => totals.hitTokens);
  metric('num_preemptions_total', 'Preemptions.', () => totals.preemptions);
  metric('prompt_tokens_total', 'Prefill tokens processed.', () => totals.promptTokens);
  metric('generation_tokens_total', 'Generation tokens processed.', () => totals.generatedTokens);
  if (host !== undefined) {
    // As vLLM's own offloading reports it; bytes of the imitated machine.
    const bytes = preset.kvBytesPerToken;
    metric(
      'external_prefix_cache_queries_total',
      'Tokens looked up in the host tier.',
      () => host.totals.queriedTokens,
    );
    metric('external_prefix_cache_hits_total', 'Tokens found in the host tier.', () => host.totals.hitTokens);
    metric('kv_offload_load_bytes_total', 'Bytes loaded.', () => host.totals.loadedTokens * bytes);
    metric('kv_offload_store_bytes_total', 'Bytes stored.', () => host.totals.storedTokens * bytes);
  }
  const labels = {
    block_size: String(blockSize),
    cache_dtype: 'auto',
    enable_prefix_caching: 'True',
    // vLLM counts its null block, which holds no tokens, among the blocks.
    num_gpu_blocks: String(kv.size + 1),
    kv_cache_size_tokens: String(kv.size * blockSize),
    // In GiB.
    kv_offloading_size: tier === undefined ? 'None' : String((tier.tokens * preset.kvBytesPerToken) / 2 ** 30),
  };
  const help = 'Information of the LLMEngine CacheConfig';
  const info = { name: 'vllm:cache_config_info', help, labelNames: Object.keys(labels), registers: [registry] };
  new Gauge(info).set(labels, 1);
  return registry;
}
