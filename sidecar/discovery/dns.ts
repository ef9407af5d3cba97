import type { RecordWithTtl } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { engineDefaults, type DnsConfig, type EngineConfig, type SourceConfig } from '../config/index.js';
import { reasonOf } from '../errors.js';

/** Time for the first try of a question to one server. The second try has twice as long. */
const TRY_MS = 2000;
const TRIES = 2;

/** Most engines of one name: a wrong one must not fill the fleet. */
const ENGINES_MAX = 1000;

interface Answer {
  /** Hosts as they stand in a URL. */
  readonly hosts: readonly string[];
  /** Infinity: the records' TTL is unknown. */
  readonly ttlMs: number;
  /** Why there is none, where there is none. */
  readonly absence?: string;
}

/** A new one for each look, because it reads the system's servers only when it is created. */
export const makeResolver = (): Resolver => new Resolver({ timeout: TRY_MS, tries: TRIES });

/**
 * Asks DNS servers for all engines of a name (`resolve`), not the system (`lookup`). Only they return all records, their
 * TTL, and SRV; and `lookup` would occupy the few threads of Node's pool while a server is silent.
 * @throws Error
 */
export async function lookUp(source: SourceConfig, resolver = makeResolver()) {
  const { name, scheme, servers, type } = source.dns;
  const defaults = engineDefaults.parse(source);
  // An address in a URL matches no certificate, so the name itself is verified.
  const serverName = scheme === 'https' && type !== 'SRV' ? { serverName: name } : {};
  if (servers.length > 0) resolver.setServers(servers);
  const found = await QUERIES[type](resolver, source.dns).catch((error: unknown): Answer => {
    if (defaults.models !== undefined && hasNoRecord(error)) return { hosts: [], ttlMs: 0, absence: reasonOf(error) };
    throw error;
  });
  const { hosts, ttlMs, absence = 'lists no engine' } = found;
  if (hosts.length > ENGINES_MAX) throw new Error(`lists ${hosts.length} engines, more than ${ENGINES_MAX}`);
  const engines = hosts.map((host): EngineConfig => ({ ...serverName, ...defaults, url: `${scheme}://${host}` }));
  return { engines, ttlMs, absence };
}

const QUERIES: Readonly<Record<DnsConfig['type'], (resolver: Resolver, config: DnsConfig) => Promise<Answer>>> = {
  A: async (resolver, { name, port }) => answer(await resolver.resolve4(name, { ttl: true }), port),
  AAAA: async (resolver, { name, port }) => answer(await resolver.resolve6(name, { ttl: true }), port),
  SRV: async (resolver, { name }) => {
    const records = await resolver.resolveSrv(name);
    // RFC 2782: the lowest number comes first, the others if it cannot be reached. A target of "." means no service.
    const first = Math.min(...records.map(({ priority }) => priority));
    const used = records.filter((record) => record.priority === first && record.name !== '' && record.name !== '.');
    return { hosts: sorted(used.map((record) => `${record.name}:${record.port}`)), ttlMs: Infinity };
  },
};

/** A headless Service without a ready pod has no record, or is no name at all. */
const hasNoRecord = (error: unknown): boolean =>
  ['ENODATA', 'ENOTFOUND'].includes((error as NodeJS.ErrnoException).code ?? '');

function answer(records: readonly RecordWithTtl[], port: number | undefined): Answer {
  const hosts = records.map(({ address }) => `${address.includes(':') ? `[${address}]` : address}:${port ?? ''}`);
  return { hosts: sorted(hosts), ttlMs: Math.min(...records.map(({ ttl }) => ttl * 1000)) };
}

/** Servers rotate their answers; the order of engines must not change with each. */
const sorted = (hosts: readonly string[]): string[] => [...new Set(hosts)].sort();
