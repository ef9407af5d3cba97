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

/** Times in scheduling's decisions, and the interval of engine checks, each with the least that it may be. */
const PACED = {
  policy: { firstQuantumMs: 1, msPerPromptToken: 0, msPerOutputToken: 0 },
  starvation: { floorMs: 1, waitMsMax: 1 },
  admission: { halfLifeMs: 1, reserveMs: 0, turnMs: 0 },
  balancer: { spillMs: 0 },
  timeouts: { queueMs: 100, leaseMs: 1000, ghostMs: 0 },
  health: { intervalMs: 10 },
} as const satisfies { readonly [S in keyof Config]?: { readonly [K in keyof Config[S]]?: number } };

/** The same scheduling at another pace. Timeouts that only guard against faults are unchanged. */
function quicken(config: Config, speed: number): Config {
  const sections = Object.entries(PACED).map(([section, leasts]) => {
    const own = config[section as keyof typeof PACED] as unknown as Readonly<Record<string, number>>;
    const quick = Object.entries(leasts).map(([key, least]) => [key, Math.max(least, (own[key] ?? NaN) / speed)]);
    return [section, { ...own, ...(Object.fromEntries(quick) as Record<string, number>) }];
  });
  return { ...config, ...(Object.fromEntries(sections) as Pick<Config, keyof typeof PACED>) };
}

/** The engines as the admin API tells of them. */
export const readEngines = async (gateway: string): Promise<EngineList['engines']> =>
  (JSON.parse(await get(`${gateway}/engines`)) as EngineList).engines;

async function whoIsDown(gateway: string): Promise<string | undefined> {
  const down = (await readEngines(gateway)).filter(({ state }) => state !== 'up');
  return down.length === 0 ? undefined : `not up: ${down.map(({ url }) => url).join(', ')}`;
}

export type Engines = Awaited<ReturnType<typeof startStandIns>>;

export async function startStandIns(count: number, preset: PresetName, kvTokens: number, speed: number) {
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
export async function setFaults(url: string, faults?: readonly string[]): Promise<void> {
  const request = faults === undefined ? { method: 'DELETE' } : { method: 'POST', body: JSON.stringify({ faults }) };
  await fetch(`${url}/sim/faults`, request).catch(() => undefined);
}
