import { hostname } from 'node:os';
import { z } from 'zod';
import { count, fixed, isBareUrl, ms, name, textOrNull } from './note.js';

const STORE_URL =
  'must be redis://host:port, rediss:// for TLS, or the path of a socket, without user, query or fragment';

const HTTP = /^https?$/;
const isStoreUrl = (text: string): boolean =>
  text.startsWith('/') ? !/[?#]/.test(text) : /^rediss?:\/\/[^/]+(?:\/\d{0,4})?$/.test(text) && isBareUrl(text);

export const cluster = z
  .strictObject({
    url: fixed(
      z.string().refine(isStoreUrl, STORE_URL).nullable().default(null),
      'Redis or Valkey server through which gateways share their engines (CLUSTER.md).',
    ),
    pool: fixed(name.default('default'), 'Name of the pool: gateways with the same engines and settings.'),
    gateway: fixed(name.max(64).optional(), 'Own name; each start adds a suffix.', { default: 'the host’s name' }),
    address: fixed(z.url({ protocol: HTTP }).nullable().default(null), 'Own URL for the others (`batches.folder`).'),
    gateways: fixed(count(1, 1000).default(1), 'How many should be live; a start without the server counts on it.'),
    username: fixed(textOrNull, 'User at the server.'),
    password: fixed(textOrNull, 'Its password.', { secret: true }),
    caFile: fixed(textOrNull, 'PEM file of the authorities for the server’s certificate.'),
    limitMs: fixed(ms(1, 1000).default(3), 'Time for the server to answer; then a call goes on without.'),
    heartbeatMs: fixed(ms(50).default(1000), 'Interval of signs of life to the server.'),
    leaseMs: fixed(ms(200).default(15_000), 'Silence after which a gateway counts as gone. At least three heartbeats.'),
    programsMax: fixed(count(100, 1e8).default(100_000), 'Programs that the server keeps.'),
    keysMax: fixed(count(100, 1e8).default(100_000), 'Conversations and responses that it keeps for each tenant.'),
  })
  .transform((given) => ({ ...given, gateway: given.gateway ?? hostName() }));

/** The host's name as a name of ours. */
const hostName = (): string =>
  hostname()
    .replace(/[^\w.-]/g, '-')
    .slice(0, 64) || 'gateway';
