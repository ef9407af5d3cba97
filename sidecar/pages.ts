import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from './errors.js';

/** Names and addresses that lead nowhere but to this machine; browsers resolve `*.localhost` themselves. */
const LOOPBACK = /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i;
const ADDRESS = /^(\d{1,3}(\.\d{1,3}){3}|\[[0-9a-f:.]+\])$/i;

export const isLoopback = (host: string): boolean => LOOPBACK.test(host);

/**
 * Keeps web pages away from a listener that asks for no key. A browser runs on the operator's own machine, so a page may
 * send requests to loopback, and read the answers if its own name resolves there (DNS rebinding). It cannot choose `Host`,
 * `Origin` and `Sec-Fetch-Site`, which give it away.
 */
export class PageGuard {
  readonly #isLocal: boolean;

  /**
   * @param names further names of the gateway, without a port
   * @param host that the listener is bound to
   */
  constructor(
    private readonly names: readonly string[],
    host: string,
  ) {
    this.#isLocal = isLoopback(host);
  }

  /**
   * For paths of operators: only a page of the gateway's own, or no page at all.
   * @throws GatewayError `forbidden`
   */
  checkAdmin({ host = '', origin, 'sec-fetch-site': site }: IncomingHttpHeaders): void {
    if (!this.#isOwn(host)) throw foreignHost();
    if (origin !== undefined && authorityOf(origin) !== host) throw foreignPage();
    if (site !== undefined && site !== 'same-origin' && site !== 'none') throw foreignPage();
  }

  /**
   * For paths of clients: also pages served from this machine, and desktop applications, whose origins are no web pages'.
   * Without `Origin` a page only reads, and nothing that it can see.
   * @throws GatewayError `forbidden`
   */
  checkClient({ host = '', origin, 'sec-fetch-site': site }: IncomingHttpHeaders): void {
    if (origin === undefined && site === undefined) return;
    if (!this.#isOwn(host)) throw foreignHost();
    if (origin === undefined || /^(?!https?:)[\w+.-]+:/i.test(origin)) return;
    const authority = authorityOf(origin);
    if (authority !== host && !this.#isKnown(nameOf(authority))) throw foreignPage();
  }

  /** Rebinding takes a name: beyond loopback, where the gateway has addresses of its own, any address will do. */
  #isOwn(host: string): boolean {
    const name = nameOf(host);
    return this.#isKnown(name) || (!this.#isLocal && ADDRESS.test(name));
  }

  #isKnown(name: string): boolean {
    return isLoopback(name) || this.names.includes(name);
  }
}

/** The host and port of an origin; '' for `null`. */
function authorityOf(origin: string): string {
  return /^https?:\/\/([^/]+)$/i.exec(origin)?.[1] ?? '';
}

function nameOf(authority: string): string {
  return authority.replace(/:\d*$/, '').toLowerCase();
}

function foreignHost(): GatewayError {
  return new GatewayError(
    'forbidden',
    'The Host header names another server. List the name in auth.hosts, or set API keys and admin.token.',
  );
}

function foreignPage(): GatewayError {
  return new GatewayError('forbidden', 'A web page of another origin may not ask here.');
}
