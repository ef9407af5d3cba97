import { hash } from 'node:crypto';
import type { TenantId } from '../../src/index.js';
import type { Identity } from './identity.js';
import { SharedCache } from './memory.js';

/** Requests that left the queue and may be repeated; the oldest are dropped first. */
const RETURNING_MAX = 10_000;

/** Remembers programs of requests that left the queue: when repeated, their history alone might name another. */
export class Returning {
  readonly #identities = new SharedCache<{ readonly identity: Identity; readonly untilMs: number }>(RETURNING_MAX);

  constructor(private readonly now: () => number) {}

  /** The request has left the queue; a repetition is expected for `graceMs`. */
  expect(tenant: TenantId, fingerprint: string, identity: Identity, graceMs: number): void {
    if (graceMs > 0 && (identity.source === 'history' || identity.source === 'none'))
      this.#identities.set(tenant, fingerprint, { identity, untilMs: this.now() + graceMs });
  }

  find(tenant: TenantId, fingerprint: string): Identity | undefined {
    const expected = this.#identities.get(tenant, fingerprint);
    return expected !== undefined && this.now() < expected.untilMs ? expected.identity : undefined;
  }

  /** The request has returned, as a call of this program or of another. */
  came(tenant: TenantId, fingerprint: string, identity: Identity): void {
    if (this.#identities.get(tenant, fingerprint)?.identity.program === identity.program)
      this.#identities.delete(tenant, fingerprint);
  }
}

export const fingerprintOf = ({ raw, hash: known }: { readonly raw: Buffer; readonly hash?: string }): string =>
  `${raw.length.toString(36)}-${(known ?? hash('sha256', raw, 'base64url')).slice(0, 16)}`;
