import type { TenantId } from '../../src/index.js';
import type { Config } from '../config/schema.js';
import { GatewayError } from '../errors.js';

const RETRY_AFTER = { retryAfterSeconds: 5 };

/** The bytes of all request bodies in memory: of calls that are being read, wait or run. */
export class HeldBytes {
  readonly #byTenant = new Map<TenantId, number>();
  #bytes = 0;

  constructor(private readonly config: () => Config) {}

  get bytes(): number {
    return this.#bytes;
  }

  /** Room for one body, taken as it comes. */
  open(tenant: TenantId): HeldBody {
    return new HeldBody((bytes) => this.#add(tenant, bytes));
  }

  /** Of several tenants each may hold half, so that none keeps all others out. */
  #add(tenant: TenantId, bytes: number): void {
    const { limits, auth } = this.config();
    const own = (this.#byTenant.get(tenant) ?? 0) + bytes;
    const ownMax = auth.keys.length > 0 ? limits.queuedBytes / 2 : limits.queuedBytes;
    if (bytes > 0 && (this.#bytes + bytes > limits.queuedBytes || own > ownMax)) {
      throw new GatewayError('bodies_full', 'The bodies of waiting calls take all the memory they may.', RETRY_AFTER);
    }
    this.#bytes += bytes;
    if (own > 0) this.#byTenant.set(tenant, own);
    else this.#byTenant.delete(tenant);
  }
}

export class HeldBody {
  #bytes = 0;

  constructor(private readonly change: (bytes: number) => void) {}

  /** @throws GatewayError `bodies_full` */
  add(bytes: number): void {
    this.change(bytes);
    this.#bytes += bytes;
  }

  /** Gives all of it back; a second time does nothing. */
  release(): void {
    this.change(-this.#bytes);
    this.#bytes = 0;
  }
}
