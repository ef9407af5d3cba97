import { parsePrometheus } from '../sidecar/engines/prometheus.js';
import type { PresetName } from '../sim/index.js';
import { serve } from './process.js';

const QUERIES = 'vllm:prefix_cache_queries_total';
const HITS = 'vllm:prefix_cache_hits_total';
const CAPACITY = 'vllm:cache_config_info';

/** The engines of one run, and how they are let go. */
export interface Engines {
  readonly urls: readonly string[];
  stop(): Promise<void>;
}

export interface StandIns {
  readonly count: number;
  readonly preset: PresetName;
  readonly kvTokens: number;
  readonly speed: number;
}

/** Stand-in engines, each in a process of its own. */
export async function startStandIns({ count, preset, kvTokens, speed }: StandIns): Promise<Engines> {
  const args = ['--port', '0', '--preset', preset, '--kv-tokens', `${kvTokens}`, '--speed', `${speed}`];
  const started = await Promise.allSettled(Array.from({ length: count }, () => serve(['engine', ...args])));
  const servers = started.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  const stop = async () => {
    await Promise.all(servers.map((server) => server.stop()));
  };
  const failed = started.find((result) => result.status === 'rejected');
  if (failed === undefined) return { urls: servers.map(({ url }) => url), stop };
  await stop();
  throw failed.reason;
}

export interface PrefixCounters {
  readonly queries: number;
  readonly hits: number;
}

/** Prompt tokens looked up in the engines' prefix caches so far, and found there, as they count themselves. */
export async function readCounters(urls: readonly string[]): Promise<PrefixCounters> {
  const counts = await Promise.all(
    urls.map(async (url) => {
      const samples = parsePrometheus(await get(`${url}/metrics`), new Set([QUERIES, HITS]));
      const sum = (name: string) => samples.get(name)?.reduce((total, { value }) => total + value, 0) ?? 0;
      return { queries: sum(QUERIES), hits: sum(HITS) };
    }),
  );
  const sum = (name: keyof PrefixCounters) => counts.reduce((total, count) => total + count[name], 0);
  return { queries: sum('queries'), hits: sum('hits') };
}

/** KV tokens of all engines together; undefined when they do not tell. */
export async function readCapacity(urls: readonly string[]): Promise<number | undefined> {
  const each = await Promise.all(
    urls.map(async (url) => {
      const samples = parsePrometheus(await get(`${url}/metrics`), new Set([CAPACITY]));
      return Number(samples.get(CAPACITY)?.[0]?.labels.get('kv_cache_size_tokens') ?? NaN);
    }),
  );
  const total = each.reduce((sum, tokens) => sum + tokens, 0);
  return Number.isNaN(total) ? undefined : total;
}

/** The first model that the server lists. @throws Error when it lists none. */
export async function readModel(url: string): Promise<string> {
  const { data } = JSON.parse(await get(`${url}/v1/models`)) as { readonly data?: readonly { readonly id: string }[] };
  const model = data?.[0]?.id;
  if (model === undefined) throw new Error(`${url} lists no model`);
  return model;
}

/** Bytes that a token of this text has on the engine. @throws Error when the engine does not tell. */
export async function readBytesPerToken(url: string, model: string, text: string): Promise<number> {
  const response = await fetch(`${url}/tokenize`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model, prompt: text }),
  });
  const { count } = (await response.json()) as { readonly count?: unknown };
  if (!response.ok || typeof count !== 'number' || count < 1) throw new Error(`${url} does not tokenize`);
  return Buffer.byteLength(text) / count;
}

async function get(url: string): Promise<string> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} answers ${response.status}`);
  return response.text();
}
