import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { loadConfig } from '../sidecar/config/load.js';
import type { Config } from '../sidecar/config/schema.js';
import { serve, type Server } from './process.js';

export interface GatewayChoice {
  readonly policy: string;
  readonly balancer?: string | undefined;
  /** A configuration file with further settings, as for real time. */
  readonly file?: string | undefined;
  readonly engines: readonly string[];
  readonly speed: number;
}

/** Starts a gateway whose scheduling keeps `speed` times the pace that its configuration says. @throws ConfigError */
export async function startGateway({ policy, balancer, file, engines, speed }: GatewayChoice): Promise<Server> {
  const flag = (path: string, text: string | readonly string[] | undefined) =>
    text === undefined ? [] : [{ path, origin: 'demo', text }];
  const flags = [
    ...flag('policy.name', policy),
    ...flag('balancer.name', balancer),
    ...flag('engines', engines),
    ...flag('listen.port', '0'),
  ];
  const config = quicken(loadConfig({ file, flags }), speed);
  const folder = await mkdtemp(join(tmpdir(), 'maitred-demo-'));
  try {
    const path = join(folder, 'maitred.yaml');
    await writeFile(path, stringify(config));
    return await serve(['serve', '--config', path]);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/**
 * The same scheduling at another pace: all times that it decides by, and how often it looks at its engines. Timeouts
 * that only guard against faults stay as they are.
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
    },
    health: { ...health, intervalMs: quick(health.intervalMs, 10) },
  };
}
