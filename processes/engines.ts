import type { PresetName } from '../sim/index.js';
import { serve } from './process.js';

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
