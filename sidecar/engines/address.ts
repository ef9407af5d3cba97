import { engineId, type EngineId } from '../../src/index.js';
import { GatewayError } from '../errors.js';

/** An engine's URL, and the prefix of every request path: '' for most. */
export function addressOf(config: Addressed) {
  const url = new URL(config.url);
  return { url, basePath: url.pathname.replace(/\/+$/, '').replace(/\/v1$/, '') };
}

interface Addressed {
  readonly id?: string | undefined;
  readonly url: string;
}

/** Its address, the same for the usual names of this machine. */
export function placeOf(config: Addressed): string {
  const { url, basePath } = addressOf(config);
  return `${url.protocol}${url.host.replace(/^(localhost|\[::1\])(?=:|$)/, '127.0.0.1')}${basePath}`;
}

/** Where a URL leads. @param usual port of a protocol besides HTTP */
export function hostAndPort({ hostname, port, protocol }: URL, usual = 80) {
  const standard = { 'http:': 80, 'https:': 443 }[protocol] ?? usual;
  return { host: hostname.replace(/[[\]]/g, ''), port: port === '' ? standard : Number(port) };
}

/** The configured id, or else `host:port`, always with its port. */
export function idOf(config: Addressed): EngineId {
  const url = new URL(config.url);
  return engineId(config.id ?? `${url.hostname}:${hostAndPort(url).port}`);
}

const LOOPBACK_4 = /^(?:localhost|127\.[\d.]+)$/;
const WILDCARDS = new Set(['0.0.0.0', '::']);

/** Whether an engine's URL leads to where a gateway listens, so that it would call itself. @param port null: not at all */
export function isSelf(
  config: Addressed,
  { host, port }: { readonly host: string; readonly port: number | null },
): boolean {
  const { host: hostname, port: own } = hostAndPort(new URL(config.url));
  if (own !== port) return false;
  const isLocal = LOOPBACK_4.test(hostname);
  if (WILDCARDS.has(host)) return isLocal || hostname === '::1' || hostname === host;
  return hostname === host || (isLocal && LOOPBACK_4.test(host));
}

/** Engines by id. @throws GatewayError `engine_exists` for two with one id */
export function byId<T extends Addressed>(engines: readonly T[]): Map<EngineId, T> {
  const found = new Map<EngineId, T>();
  for (const config of engines) {
    const id = idOf(config);
    if (found.has(id)) throw new GatewayError('engine_exists', `Two engines have the id ${id}.`, { param: 'engines' });
    found.set(id, config);
  }
  return found;
}

/** Of connections to an engine. Each request has its own timers. */
export const connectionOf = ({ serverName }: { readonly serverName?: string | undefined }, connectTimeout: number) => ({
  connectTimeout,
  connect: serverName === undefined ? {} : { servername: serverName },
  headersTimeout: 0,
  bodyTimeout: 0,
});
