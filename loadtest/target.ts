import { Pool } from 'undici';
import { lookup } from 'node:dns/promises';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { reasonOf } from '../text/index.js';
import type { LoadApi } from './apis/api.js';
import { APIS, type ApiName } from './apis/index.js';
import { Exchange, type Outcome } from './exchange.js';
import { LoadError, type LoadOptions } from './load.js';

const CONNECT_MS = 10_000;
/** Servers close idle connections, some after 5 s; a call sent at that very moment fails through nobody's fault. */
const IDLE_MS_MAX = 1_000;
const ANTHROPIC_VERSION = '2023-06-01';

type TargetOptions = Pick<LoadOptions, 'api' | 'stream' | 'apiKey' | 'timeoutMs' | 'ownsTargets'>;

interface SendOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** Absent: the same limit as for all calls. */
  readonly timeoutMs?: number;
}

export class Target {
  readonly api: LoadApi;
  readonly #headers: Readonly<Record<string, string>>;

  private constructor(
    readonly url: string,
    private readonly basePath: string,
    readonly pool: Pool,
    private readonly options: TargetOptions,
  ) {
    this.api = APIS[options.api];
    this.#headers = headersOf(options.api, options.apiKey);
  }

  /**
   * Resolves its address; does not connect.
   * @throws LoadError
   */
  static async open(text: string, options: TargetOptions): Promise<Target> {
    const url = urlOf(text);
    const lookup = options.ownsTargets ? undefined : await privateLookup(url);
    const pool = new Pool(url.origin, {
      // The player limits calls before they get here, so that late ones are noticed.
      connections: null,
      pipelining: 1,
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: IDLE_MS_MAX,
      keepAliveMaxTimeout: IDLE_MS_MAX,
      connect: { timeout: CONNECT_MS, ...(lookup && { lookup }) },
    });
    const basePath = url.pathname.replace(/\/+$/, '').replace(/\/v1$/, '');
    return new Target(url.origin + basePath, basePath, pool, options);
  }

  /** @param ended receives the outcome once, unless the call is aborted */
  send(body: string, options: SendOptions, ended: (outcome: Outcome) => void): Exchange {
    const { headers, timeoutMs = this.options.timeoutMs } = options;
    const exchange = new Exchange({ api: this.api, stream: this.options.stream, timeoutMs }, ended);
    exchange.start(this.pool, this.basePath + this.api.path, { ...this.#headers, ...headers }, body);
    return exchange;
  }

  /** One call by itself. Rejects when the signal is aborted, with its reason. */
  ask(body: string, options: SendOptions, signal: AbortSignal): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      const exchange = this.send(body, options, (outcome) => {
        signal.removeEventListener('abort', stop);
        resolve(outcome);
      });
      const stop = () => {
        exchange.abort();
        reject(signal.reason as Error);
      };
      if (signal.aborted) stop();
      else signal.addEventListener('abort', stop);
    });
  }

  /** A small JSON exchange on another path. Rejects with undici's error. */
  async json(method: 'GET' | 'POST', path: string, body: object | undefined, signal: AbortSignal) {
    const response = await this.pool.request({
      method,
      path: this.basePath + path,
      headers: this.#headers,
      body: body === undefined ? null : JSON.stringify(body),
      signal,
    });
    return { status: response.statusCode, headers: response.headers, text: await response.body.text() };
  }

  close(): Promise<void> {
    return this.pool.destroy();
  }
}

/** @throws LoadError */
function urlOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new LoadError(`${text} is no URL such as http://127.0.0.1:8000`);
  if (url.username !== '' || url.password !== '')
    throw new LoadError(`the URL of ${url.host} holds credentials; --key names a variable that does`);
  if (url.search !== '' || url.hash !== '')
    throw new LoadError(`the URL of ${url.host} has more than a path behind its host`);
  return url;
}

function headersOf(api: ApiName, key: string | undefined): Record<string, string> {
  return {
    'content-type': 'application/json',
    ...(key !== undefined && { authorization: `Bearer ${key}` }),
    ...(api === 'messages' && {
      'anthropic-version': ANTHROPIC_VERSION,
      ...(key !== undefined && { 'x-api-key': key }),
    }),
  };
}

/** Addresses that only the machine itself or a privately owned network can reach; unspecified ones mean the machine. */
const PRIVATE = new BlockList();
const IPV4 = ['127.0.0.0/8', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '169.254.0.0/16', '0.0.0.0/32'];
for (const subnet of [...IPV4, '::/127', 'fc00::/7', 'fe80::/10']) {
  const [network = '', prefix] = subnet.split('/');
  PRIVATE.addSubnet(network, Number(prefix), isIP(network) === 4 ? 'ipv4' : 'ipv6');
}

/** An IPv4 address is also recognised in its IPv6 form. */
export function isPrivate(address: string): boolean {
  const [plain = ''] = address.split('%', 1);
  const family = isIP(plain);
  return family > 0 && PRIVATE.check(plain, family === 4 ? 'ipv4' : 'ipv6');
}

/**
 * Looks up a host whose addresses must all be private. Returns a lookup pinned to these, since a name may later resolve
 * to another machine.
 * @throws LoadError also for a name without addresses
 */
export async function privateLookup({ origin, hostname }: URL): Promise<LookupFunction> {
  const host = hostname.replace(/^\[|\]$/g, '');
  const found =
    isIP(host) > 0
      ? [{ address: host, family: isIP(host) }]
      : await lookup(host, { all: true }).catch((error: unknown) => {
          throw new LoadError(`${origin} cannot be reached: ${reasonOf(error)}`);
        });
  const foreign = found.find(({ address }) => !isPrivate(address))?.address;
  const named = foreign === undefined || foreign === host ? '' : ` (${foreign})`;
  if (foreign !== undefined || found.length === 0)
    throw new LoadError(
      `${origin} is not on this machine or a private network${named}; add --i-own-this-target if it is yours`,
    );
  return (_, options, callback) => {
    if (options.all === true) callback(null, found);
    else callback(null, found[0]?.address ?? '', found[0]?.family);
  };
}
