import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { EngineList } from '../sidecar/admin/answers.js';
import { loadConfig, type Config } from '../sidecar/config/index.js';
import { get, untilReady, serve, type Server } from './process.js';
import type { PresetName } from '../sim/index.js';

interface GatewayChoice {
  readonly policy: string;
  /** A configuration file with further settings, in real time. */
  readonly file?: string | undefined;
  readonly engines: readonly string[];
  readonly speed: number;
}

/**
 * Starts a gateway whose scheduling runs at `speed` times its configured pace, and waits until all its engines accept
 * calls.
 * @throws ConfigError
 * @throws Error when an engine is not up in time.
 */
export async function startGateway(choice: GatewayChoice): Promise<Server> {
  const config = configure(choice);
  const folder = await mkdtemp(join(tmpdir(), 'maitred-gateway-'));
  try {
    const path = join(folder, 'maitred.yaml');
    await writeFile(path, stringify(config));
    const gateway = await serve(['serve', '--config', path]);
    try {
      await untilReady(() => whoIsDown(gateway.url));
    } catch (error) {
      await gateway.stop();
      throw error;
    }
    return gateway;
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** The configuration of a gateway whose starter can detect that it listens, and can query its state. */
export function configure({ policy, file, engines, speed }: GatewayChoice): Config {
  const flags = [
    { path: 'policy.name', origin: 'command line', text: policy },
    { path: 'engines', origin: 'command line', text: engines },
  ];
  const config = quicken(loadConfig({ file, flags }), speed);
  const { listen, admin, auth, log } = loadConfig({});
  return { ...config, listen: { ...listen, port: 0 }, admin, auth, log, embedded: 0 };
}

/**
 * The same scheduling at another pace: all times in its decisions, and the interval of engine checks. Timeouts that
 * only guard against faults are unchanged.
 */
function quicken(config: Config, speed: number): Config {
  const { policy, starvation, admission, balancer, timeouts, health } = config;
  const quick = (ms: number, least = 0) => Math.max(least, ms / speed);
  return {
    ...config,
    policy: {
      ...policy,
      firstQuantumMs: quick(policy.firstQuantumMs, 1),
      msPerPromptToken: quick(policy.msPerPromptToken),
      msPerOutputToken: quick(policy.msPerOutputToken),
    },
    starvation: {
      ...starvation,
      floorMs: quick(starvation.floorMs, 1),
      waitMsMax: quick(starvation.waitMsMax, 1),
    },
    admission: {
      ...admission,
      halfLifeMs: quick(admission.halfLifeMs, 1),
      reserveMs: quick(admission.reserveMs),
      turnMs: quick(admission.turnMs),
    },
    balancer: { ...balancer, spillMs: quick(balancer.spillMs) },
    timeouts: {
      ...timeouts,
      queueMs: quick(timeouts.queueMs, 100),
      leaseMs: quick(timeouts.leaseMs, 1000),
      ghostMs: quick(timeouts.ghostMs),
    },
    health: { ...health, intervalMs: quick(health.intervalMs, 10) },
  };
}

/** The engines as the admin API tells of them. */
export const readEngines = async (gateway: string): Promise<EngineList['engines']> =>
  (JSON.parse(await get(`${gateway}/engines`)) as EngineList).engines;

async function whoIsDown(gateway: string): Promise<string | undefined> {
  const down = (await readEngines(gateway)).filter(({ state }) => state !== 'up');
  return down.length === 0 ? undefined : `not up: ${down.map(({ url }) => url).join(', ')}`;
}

export interface Engines {
  readonly urls: readonly string[];
  stop(): Promise<void>;
}

interface StandIns {
  readonly count: number;
  readonly preset: PresetName;
  readonly kvTokens: number;
  readonly speed: number;
}

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
