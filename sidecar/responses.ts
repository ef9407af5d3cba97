import { LRUCache } from 'lru-cache';
import type { EngineId, TenantId } from '../src/index.js';

/** A response that can be gone on from. */
export interface HeldResponse {
  readonly engine: EngineId;
  /** Its prompt and its answer together; the estimate of its prompt until it is told. */
  readonly contextTokens: number;
}

/** Responses that engines made, and for whom. Some engines take ids from clients, so two tenants may hold one id. */
export class Responses {
  readonly #holders: LRUCache<string, Map<TenantId, HeldResponse>>;

  /** @param max ids remembered */
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

  /** Whether only others hold it. */
  isForeign(tenant: TenantId, id: string): boolean {
    return this.#holders.get(id)?.has(tenant) === false;
  }
}
