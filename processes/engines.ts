import { parsePrometheus } from '../sidecar/engines/prometheus.js';
import type { PresetName } from '../sim/index.js';
import { get } from './http.js';
import { serve } from './process.js';

const QUERIES = 'vllm:prefix_cache_queries_total';
const HITS = 'vllm:prefix_cache_hits_total';

/** The engines of one run, and their shutdown. */
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
export async function startStandIns({
  count,
  preset,
  kvTokens,
  speed,
}: StandIns): Promise<Engines & { readonly pids: readonly number[] }> {
  const args = ['--port', '0', '--preset', preset, '--kv-tokens', `${kvTokens}`, '--speed', `${speed}`];
  const started = await Promise.allSettled(Array.from({ length: count }, () => serve(['engine', ...args])));
  const servers = started.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  const stop = async () => {
    await Promise.all(servers.map((server) => server.stop()));
  };
  const failed = started.find((result) => result.status === 'rejected');
  if (failed === undefined) return { urls: servers.map(({ url }) => url), pids: servers.map(({ pid }) => pid), stop };
  await stop();
  throw failed.reason;
}

/** Sets what goes wrong with a stand-in's next answers; absent: nothing more. One that is away has faults enough. */
export async function setFaults(url: string, faults?: object): Promise<void> {
  const request = faults === undefined ? { method: 'DELETE' } : { method: 'POST', body: JSON.stringify(faults) };
  await fetch(`${url}/sim/faults`, request).catch(() => undefined);
}

export interface PrefixCounters {
  readonly queries: number;
  readonly hits: number;
}

/** Prompt tokens looked up in the engines' prefix caches so far, and found there, by the engines' own counters. */
export async function readCounters(urls: readonly string[]): Promise<PrefixCounters> {
  const names = new Set([QUERIES, HITS]);
  const samples = await Promise.all(urls.map(async (url) => parsePrometheus(await get(`${url}/metrics`), names)));
  const sum = (name: string) =>
    samples.flatMap((each) => each.get(name) ?? []).reduce((total, { value }) => total + value, 0);
  return { queries: sum(QUERIES), hits: sum(HITS) };
}
