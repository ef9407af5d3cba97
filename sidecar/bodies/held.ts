import type { TenantId } from '../../src/index.js';
import type { Config } from '../config/index.js';
import { GatewayError } from '../errors.js';

export type HeldBody = Readonly<ReturnType<HeldBytes['open']>>;

/** Bytes of all request bodies in memory: of calls that are being read, wait or run. */
export class HeldBytes {
  readonly #byTenant = new Map<TenantId, number>();
  bytes = 0;

  constructor(private readonly config: () => Config) {}

  /** An account for one body, which grows as the bytes arrive. */
  open(tenant: TenantId) {
    let held = 0;
    /** @throws GatewayError `bodies_full` */
    const add = (bytes: number): void => {
      this.#add(tenant, bytes);
      held += bytes;
    };
    /** Releases all its bytes; a second call has no effect. */
    const release = (): void => add(-held);
    return { add, release };
  }

  /** With several tenants each may hold half, so that none locks the others out. */
  #add(tenant: TenantId, bytes: number): void {
    const { limits, auth } = this.config();
    const own = (this.#byTenant.get(tenant) ?? 0) + bytes;
    const ownMax = auth.keys.length > 0 ? limits.queuedBytes / 2 : limits.queuedBytes;
    if (bytes > 0 && (this.bytes + bytes > limits.queuedBytes || own > ownMax))
      throw new GatewayError('bodies_full', 'The bodies of waiting calls take all the memory they may.');
    this.bytes += bytes;
    if (own > 0) this.#byTenant.set(tenant, own);
    else this.#byTenant.delete(tenant);
  }
}
