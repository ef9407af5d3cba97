import { Resolver } from 'node:dns/promises';
import {
  REFRESH_MS_MIN,
  engineDefaults,
  type DnsConfig,
  type EngineConfig,
  type SourceConfig,
} from '../config/index.js';
import { reasonOf } from '../errors.js';
import type { SetTimer } from '../engines/index.js';

/** Time for the first try of a question to one server. The second try has twice as long. */
const TRY_MS = 2000;
const TRIES = 2;
/** Waits between failed looks double from here, in milliseconds. */
const BACKOFF_MS = 1000;

export interface Source {
  /** Ends its looks. Nothing is reported afterwards. */
  close(): void;
}

/** Every look ends in one `found` with all engines that the name has now, changed or not, or in one `failed`. */
export interface SourcePorts {
  readonly found: (engines: readonly EngineConfig[]) => void;
  /** The look came to nothing. The engines found before stay. */
  readonly failed: (reason: string) => void;
  readonly setTimer: SetTimer;
}

interface Answer {
  /** Hosts as they stand in a URL. */
  readonly hosts: readonly string[];
  /** Infinity: the records' TTL is unknown. */
  readonly ttlMs: number;
}

/**
 * Asks a DNS name for its engines until closed.
 *
 * It asks DNS servers (`resolve`), not the system (`lookup`). Only they return all records, their TTL, and SRV; and
 * `lookup` would occupy the few threads of Node's pool while a server is silent.
 */
export function watchDns(source: SourceConfig, ports: SourcePorts): Source {
  const config = source.dns;
  const defaults = engineDefaults.parse(source);
  const { name, scheme, refreshMs } = config;
  // An address in a URL matches no certificate, so the name itself is verified.
  const serverName = scheme === 'https' && config.type !== 'SRV' ? { serverName: name } : {};
  let closed = false;
  let failures = 0;
  let resolver: Resolver | undefined;
  let cancelTimer = (): void => undefined;

  const look = async (): Promise<void> => {
    // A new one for each look, because it reads the system's servers only when it is created.
    resolver = new Resolver({ timeout: TRY_MS, tries: TRIES });
    let waitMs = refreshMs;
    try {
      if (config.servers.length > 0) resolver.setServers(config.servers);
      const { hosts, ttlMs } = await QUERIES[config.type](resolver, config).catch((error: unknown) => {
        if (defaults.models !== undefined && hasNoRecord(error)) return { hosts: [], ttlMs: 0 };
        throw error;
      });
      if (closed) return;
      failures = 0;
      waitMs = Math.max(REFRESH_MS_MIN, Math.min(ttlMs, refreshMs));
      ports.found(hosts.map((host) => ({ ...serverName, ...defaults, url: `${scheme}://${host}` })));
    } catch (error) {
      if (closed) return;
      failures += 1;
      waitMs = backoffMs(failures, refreshMs);
      ports.failed(reasonOf(error));
    }
    cancelTimer = ports.setTimer(() => void look(), waitMs);
  };
  // `setServers` throws at once, before the caller has the source to close it.
  queueMicrotask(() => void look());
  return {
    close: () => {
      closed = true;
      cancelTimer();
      resolver?.cancel();
    },
  };
}

/** Half of the wait is by chance, so that gateways spread. */
function backoffMs(failures: number, msMax: number): number {
  const ms = Math.min(BACKOFF_MS * 2 ** (failures - 1), msMax);
  return ms * (0.5 + Math.random() / 2);
}

const QUERIES: Readonly<Record<DnsConfig['type'], (resolver: Resolver, config: DnsConfig) => Promise<Answer>>> = {
  A: async (resolver, { name, port }) => answer(await resolver.resolve4(name, { ttl: true }), port),
  AAAA: async (resolver, { name, port }) => answer(await resolver.resolve6(name, { ttl: true }), port),
  SRV: async (resolver, { name }) => {
    const records = await resolver.resolveSrv(name);
    // RFC 2782: records of a higher number are for when those of the lowest cannot be reached. A target of "." says
    // that there is no such service.
    const first = Math.min(...records.map(({ priority }) => priority));
    const used = records.filter((record) => record.priority === first && record.name !== '' && record.name !== '.');
    return { hosts: sorted(used.map((record) => `${record.name}:${record.port}`)), ttlMs: Infinity };
  },
};

/** A headless Service without a ready pod has no record, or is no name at all. */
const hasNoRecord = (error: unknown): boolean =>
  ['ENODATA', 'ENOTFOUND'].includes((error as NodeJS.ErrnoException).code ?? '');

function answer(
  records: readonly { readonly address: string; readonly ttl: number }[],
  port: number | undefined,
): Answer {
  const hosts = records.map(({ address }) => `${address.includes(':') ? `[${address}]` : address}:${port ?? ''}`);
  return { hosts: sorted(hosts), ttlMs: Math.min(...records.map(({ ttl }) => ttl * 1000)) };
}

/** Servers rotate their answers; the order of engines must not change with each. */
const sorted = (hosts: readonly string[]): string[] => [...new Set(hosts)].sort();
