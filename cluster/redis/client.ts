import type { Redis, RedisOptions } from 'ioredis';
import { SCRIPTS, type ScriptName } from './scripts.js';

export interface Connection {
  /** `redis://host:port/db`, `rediss://` for TLS, or the path of a socket. */
  readonly url: string;
  readonly options?: Pick<RedisOptions, 'username' | 'password' | 'tls'>;
}

type Script = (...keysAndArguments: readonly string[]) => Promise<unknown>;
/** A connection on which each script is a method: EVALSHA, and EVAL where the server does not know it. */
export type Client = Redis & Readonly<Record<ScriptName, Script>>;

/** Silence after which a connection with unanswered commands is given up. */
const SILENCE_MS_MAX = 5000;
const CONNECT_MS_MAX = 2000;
/** Time for a server to close its side. All that mattered has been answered before. */
const DISCONNECT_MS_MAX = 1;
const RECONNECT_MS = { first: 50, most: 1000 };

/**
 * A client that is not connected yet. It reconnects for ever and keeps no command back for later.
 * @throws Error if the package ioredis is not installed
 */
export async function makeClient({ url, options }: Connection, name: string): Promise<Client> {
  const { Redis } = await import('ioredis').catch((cause: unknown) => {
    throw new Error('Shared state needs the package ioredis: npm install ioredis', { cause });
  });
  return new Redis(url, {
    ...options,
    connectionName: name,
    lazyConnect: true,
    // Messages of a subscribed connection come beside answers only with version 3 of the protocol.
    protocol: 3,
    connectTimeout: CONNECT_MS_MAX,
    socketTimeout: SILENCE_MS_MAX,
    disconnectTimeout: DISCONNECT_MS_MAX,
    retryStrategy: (times) => Math.min(RECONNECT_MS.most, RECONNECT_MS.first * times) * (0.5 + Math.random() / 2),
    // A replica that was the primary a moment ago.
    reconnectOnError: ({ message }) => message.startsWith('READONLY'),
    // Instead, each is sent again with its value at that time.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
    maxRetriesPerRequest: 0,
    // These would need more rights.
    enableReadyCheck: false,
    disableClientInfo: true,
    scripts: Object.fromEntries(Object.entries(SCRIPTS).map(([script, lua]) => [script, { lua, numberOfKeys: 2 }])),
  }) as Client;
}
