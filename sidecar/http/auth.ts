import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { tenantId, type TenantId } from '../../src/index.js';
import { DEFAULT_TENANT, type Config } from '../config/index.js';
import { GatewayError } from '../errors.js';
import { PageGuard, isLoopback } from './pages.js';

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
    if (tenant === undefined) throw new GatewayError('unauthorized', 'The API key is missing or unknown.');
    return tenant;
  }

  /** @throws GatewayError `unauthorized`, `forbidden` */
  checkAdmin(headers: IncomingHttpHeaders): void {
    if (this.#adminDigest !== undefined) {
      if (timingSafeEqual(this.#adminDigest, sha256(bearer(headers) ?? ''))) return;
      throw new GatewayError('unauthorized', 'The admin token is missing or wrong.');
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

function bearer(headers: IncomingHttpHeaders): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
}

const sha256 = (text: string): Buffer => hash('sha256', text, 'buffer');
