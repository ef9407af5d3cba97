import { LRUCache } from 'lru-cache';
import type { EngineId, TenantId } from '../../src/index.js';

/** A response that later calls can continue. */
export interface HeldResponse {
  readonly engine: EngineId;
  /** Tokens of its prompt and its answer together; the estimate of its prompt until usage is known. */
  readonly contextTokens: number;
}

/**
 * Responses made by engines, and their tenants. Some engines accept ids from clients, so two tenants may hold the same
 * id.
 */
export class Responses {
  readonly #holders: LRUCache<string, Map<TenantId, HeldResponse>>;

  /** @param max most ids to remember */
  constructor(max: number) {
    this.#holders = new LRUCache({ max });
  }

  hold(tenant: TenantId, id: string, held: HeldResponse): void {
    const holders = this.#holders.get(id);
    if (holders === undefined) this.#holders.set(id, new Map([[tenant, held]]));
    else holders.set(tenant, held);
  }

  get(tenant: TenantId, id: string): HeldResponse | undefined {
    return this.#holders.get(id)?.get(tenant);
  }
}
