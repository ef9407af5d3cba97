import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { gatewayId, Participant, REDIS_TIMES, RedisState, type Clock, type RedisOptions } from '../../cluster/index.js';
import type { Event, Views } from '../../src/index.js';
import type { Config } from '../config/index.js';
import type { Log } from '../engines/index.js';

/**
 * Joins the cluster that the configuration names. Waits for the server for up to a second, and goes on without it.
 * @throws Error if the package ioredis is not installed, or the file of authorities cannot be read
 */
export async function openCluster(
  { cluster, limits }: Config,
  url: string,
  { emit, views, log, answer }: Pick<RedisOptions, 'answer'> & { emit: (event: Event) => void; views: Views; log: Log },
): Promise<Participant<RedisState>> {
  const { username, password, caFile, ...shared } = cluster;
  const options = {
    ...(username !== null && { username }),
    ...(password !== null && { password }),
    ...(caFile !== null && { tls: { ca: await readFile(caFile) } }),
  };
  const participant = new Participant<RedisState>({
    clock: realClock(),
    emit,
    views: () => views,
    programsMax: limits.programsMax,
    changed: ({ up, live, error }) => {
      if (up) log.info({ gateways: live }, 'shared state is in use');
      else log.warn({ gateways: live, cause: error }, 'no shared state: this gateway continues alone');
    },
  });
  participant.shared = await RedisState.open(
    {
      ...REDIS_TIMES,
      ...shared,
      connection: { url, options },
      gateway: gatewayId(`${shared.gateway}.${randomBytes(4).toString('hex')}`),
      answer,
    },
    participant,
  );
  return participant;
}

export function realClock(): Clock {
  let timer: NodeJS.Timeout | undefined;
  const stop = () => clearTimeout(timer);
  return {
    nowMs: () => performance.now(),
    wakeAt: (atMs, ring) => {
      stop();
      timer = setTimeout(ring, Math.max(0, atMs - performance.now()));
    },
    stop,
  };
}
