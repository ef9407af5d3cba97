import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '../errors.js';

/** Names and addresses that always lead to this machine; browsers resolve `*.localhost` themselves. */
const LOOPBACK = /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i;
const ADDRESS = /^(\d{1,3}(\.\d{1,3}){3}|\[[0-9a-f:.]+\])$/i;

export const isLoopback = (host: string): boolean => LOOPBACK.test(host);

/**
 * Keeps web pages away from a listener without keys. A browser runs on the operator's own machine, so a page may send
 * requests to loopback. It can read the answers if its own name resolves there (DNS rebinding). But it cannot choose
 * `Host`, `Origin` and `Sec-Fetch-Site`, which identify it.
 */
export class PageGuard {
  readonly #isLocal: boolean;

  /**
   * @param names further names of the gateway, without a port
   * @param host address that the listener is bound to
   */
  constructor(
    private readonly names: readonly string[],
    host: string,
  ) {
    this.#isLocal = isLoopback(host);
  }

  /**
   * For operators' paths: allows only pages of the gateway's own, and requests from outside any page.
   * @throws GatewayError `forbidden`
   */
  checkAdmin({ host = '', origin, 'sec-fetch-site': site }: IncomingHttpHeaders): void {
    if (!this.#isOwn(host)) throw foreignHost();
    if (origin !== undefined && authorityOf(origin) !== host) throw foreignPage();
    if (site !== undefined && site !== 'same-origin' && site !== 'none') throw foreignPage();
  }

  /**
   * For clients' paths: also allows pages served from this machine, and desktop applications, whose origins are not web
   * pages. A page that reads from its own name has no mark but that name. So on loopback, reads need a name of ours.
   * @param isRead whether the request is one that pages send without `Origin`
   * @throws GatewayError `forbidden`
   */
  checkClient({ host = '', origin, 'sec-fetch-site': site }: IncomingHttpHeaders, isRead: boolean): void {
    if (origin === undefined && site === undefined && !(isRead && this.#isLocal)) return;
    if (!this.#isOwn(host)) throw foreignHost();
    if (origin === undefined || /^(?!https?:)[\w+.-]+:/i.test(origin)) return;
    const authority = authorityOf(origin);
    if (authority !== host && !this.#isKnown(nameOf(authority))) throw foreignPage();
  }

  /** Rebinding needs a name. So beyond loopback, where the gateway has its own addresses, any address is allowed. */
  #isOwn(host: string): boolean {
    const name = nameOf(host);
    return this.#isKnown(name) || (!this.#isLocal && ADDRESS.test(name));
  }

  #isKnown(name: string): boolean {
    return isLoopback(name) || this.names.includes(name);
  }
}

/** Host and port of an origin; '' for `null`. */
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
