import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { tenantId, type TenantId } from '../../src/index.js';
import { DEFAULT_TENANT, type Config } from '../config/index.js';
import { GatewayError } from '../errors.js';

/** Checks keys. It stores only their hashes, and compares in constant time. */
export class Auth {
  readonly #keys: readonly { readonly digest: Buffer; readonly tenant: TenantId }[];
  readonly #adminDigest: Buffer | undefined;
  readonly #adminIsOpen: boolean;
  readonly #clientPages: PageGuard;
  readonly #adminPages: PageGuard;

  constructor(config: Config) {
    this.#keys = config.auth.keys.map((key) => ({
      digest: Buffer.from(key.sha256, 'hex'),
      tenant: tenantId(key.tenant),
    }));
    this.#adminDigest = config.admin.token === null ? undefined : sha256(config.admin.token);
    const ownListener = config.admin.port !== null;
    this.#adminIsOpen = ownListener || (isLoopback(config.listen.host) && this.#keys.length === 0);
    this.#clientPages = new PageGuard(config.auth.hosts, config.listen.host);
    this.#adminPages = ownListener ? new PageGuard(config.auth.hosts, config.admin.host) : this.#clientPages;
  }

  /** Whether the keys are of several tenants, who may not see each other's answers. */
  get hasTenants(): boolean {
    return new Set(this.#keys.map(({ tenant }) => tenant)).size > 1;
  }

  /** @throws GatewayError `unauthorized`; without configured keys, `forbidden` for web pages */
  tenantOf({ headers, method }: Pick<IncomingMessage, 'headers' | 'method'>): TenantId {
    if (this.#keys.length === 0) {
      this.#clientPages.checkClient(headers, method === 'GET' || method === 'HEAD');
      return DEFAULT_TENANT;
    }
    const given = bearer(headers) ?? headers['x-api-key'];
    const digest = sha256(typeof given === 'string' ? given : '');
    let tenant: TenantId | undefined;
    for (const key of this.#keys) if (timingSafeEqual(key.digest, digest)) tenant = key.tenant;
    if (tenant === undefined) throw unauthorized(headers, 'The API key is missing or unknown.');
    return tenant;
  }

  /** Undefined: `tenantOf` throws. */
  tenantIfAny(request: Pick<IncomingMessage, 'headers' | 'method'>): TenantId | undefined {
    try {
      return this.tenantOf(request);
    } catch {
      return undefined;
    }
  }

  /** @throws GatewayError `unauthorized`, `forbidden` */
  checkAdmin(headers: IncomingHttpHeaders): void {
    if (this.#adminDigest !== undefined) {
      if (timingSafeEqual(this.#adminDigest, sha256(bearer(headers) ?? ''))) return;
      throw unauthorized(headers, 'The admin token is missing or wrong.');
    }
    if (!this.#adminIsOpen) {
      throw new GatewayError(
        'forbidden',
        'Admin paths are closed here: set admin.token, or admin.port for a listener of their own.',
      );
    }
    this.#adminPages.checkAdmin(headers);
  }
}

const bearer = (headers: IncomingHttpHeaders): string | undefined =>
  /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];

/** @param text the fault, unless it is in the form of the header */
const unauthorized = (headers: IncomingHttpHeaders, text: string): GatewayError =>
  new GatewayError(
    'unauthorized',
    headers.authorization === undefined || bearer(headers) !== undefined
      ? text
      : 'The Authorization header must be `Bearer KEY`.',
  );

const sha256 = (text: string): Buffer => hash('sha256', text, 'buffer');

/** Names and addresses that always lead to this machine; browsers resolve `*.localhost` themselves. */
const LOOPBACK = /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i;
const ADDRESS = /^(\d{1,3}(\.\d{1,3}){3}|\[[0-9a-f:.]+\])$/i;

export const isLoopback = (host: string): boolean => LOOPBACK.test(host);

/**
 * Keeps web pages away from a listener without keys. A browser runs on the operator's own machine, so a page may send
 * requests to loopback. It can read the answers if its own name resolves there (DNS rebinding). But it cannot choose
 * `Host`, `Origin` and `Sec-Fetch-Site`, which identify it.
 */
class PageGuard {
  /** @param names further names of the gateway, without a port @param host address that the listener is bound to */
  constructor(
    private readonly names: readonly string[],
    private readonly host: string,
  ) {}

  /** For operators' paths: only the gateway's own pages, and requests from no page. @throws GatewayError `forbidden` */
  checkAdmin({ host = '', origin, 'sec-fetch-site': site }: IncomingHttpHeaders): void {
    if (!this.#isOwn(host)) throw new GatewayError('forbidden', FOREIGN_HOST);
    if (origin !== undefined && authorityOf(origin) !== host) throw new GatewayError('forbidden', FOREIGN_PAGE);
    if (site !== undefined && site !== 'same-origin' && site !== 'none')
      throw new GatewayError('forbidden', FOREIGN_PAGE);
  }

  /**
   * For clients' paths: also allows pages served from this machine, and desktop applications, whose origins are not web
   * pages. A page that reads from its own name has no mark but that name. So on loopback, reads need a name of ours.
   * @param isRead whether the request is one that pages send without `Origin`
   * @throws GatewayError `forbidden`
   */
  checkClient({ host = '', origin, 'sec-fetch-site': site }: IncomingHttpHeaders, isRead: boolean): void {
    if (origin === undefined && site === undefined && !(isRead && isLoopback(this.host))) return;
    if (!this.#isOwn(host)) throw new GatewayError('forbidden', FOREIGN_HOST);
    if (origin === undefined || /^(?!https?:)[\w+.-]+:/i.test(origin)) return;
    const authority = authorityOf(origin);
    if (authority !== host && !this.#isKnown(nameOf(authority))) throw new GatewayError('forbidden', FOREIGN_PAGE);
  }

  /** Rebinding needs a name. So beyond loopback, where the gateway has its own addresses, any address is allowed. */
  #isOwn(host: string): boolean {
    const name = nameOf(host);
    return this.#isKnown(name) || (!isLoopback(this.host) && ADDRESS.test(name));
  }

  #isKnown(name: string): boolean {
    return isLoopback(name) || this.names.includes(name);
  }
}

/** Host and port of an origin; '' for `null`. */
const authorityOf = (origin: string): string => /^https?:\/\/([^/]+)$/i.exec(origin)?.[1] ?? '';

const nameOf = (authority: string): string => authority.replace(/:\d*$/, '').toLowerCase();

const FOREIGN_HOST =
  'The Host header names another server. List the name in auth.hosts, or set API keys and admin.token.';
const FOREIGN_PAGE =
  'A web page of another origin may not ask here. Let a proxy serve both as one origin, and list its name in auth.hosts.';
