import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { gatewayId, REDIS_DEFAULTS, RedisState } from '../../cluster/index.js';
import type { Config } from '../config/schema.js';
import { Cluster, type ClusterPorts } from './cluster.js';

/**
 * Joins the cluster that the configuration names. Waits for the server for up to a second, and goes on without it.
 * @throws Error if the package ioredis is not installed, or the file of authorities cannot be read
 */
export async function openCluster(config: Config['cluster'], url: string, ports: ClusterPorts): Promise<Cluster> {
  const { pool, gateways, username, password, caFile, limitMs, heartbeatMs, leaseMs, programsMax, keysMax } = config;
  const options = {
    ...(username !== null && { username }),
    ...(password !== null && { password }),
    ...(caFile !== null && { tls: { ca: await readFile(caFile) } }),
  };
  return Cluster.open(ports, (listener) =>
    RedisState.open(
      {
        ...REDIS_DEFAULTS,
        connection: { url, options },
        pool,
        gateway: gatewayId(`${config.gateway}.${randomBytes(4).toString('hex')}`),
        gateways,
        limitMs,
        heartbeatMs,
        leaseMs,
        programsMax,
        keysMax,
      },
      listener,
    ),
  );
}
