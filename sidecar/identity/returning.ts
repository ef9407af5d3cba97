import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { IncomingHttpHeaders } from 'node:http';
import type { TenantId } from '../../src/index.js';
import type { Identity } from './identity.js';

/** Requests that left the queue and may be asked again; the oldest give way. */
const RETURNING_MAX = 10_000;
/** What is hashed of a long body: both ends, and slices between them. */
const END_BYTES = 4096;
const SLICES = 32;
const SLICE_BYTES = 256;
const WHOLE_BYTES_MAX = 2 * END_BYTES + SLICES * SLICE_BYTES;

/**
 * Whose request it was that left the queue, for programs that are known by their calls alone: by the same request again the
 * program is found, where its history would name another that began alike, or nobody.
 */
export class Returning {
  readonly #identities = new LRUCache<string, Identity>({ max: RETURNING_MAX });

  /** The request has left the queue and is waited for until `graceMs` are over. */
  expect(tenant: TenantId, fingerprint: string, identity: Identity, graceMs: number): void {
    if (graceMs > 0 && isFromCalls(identity))
      this.#identities.set(keyOf(tenant, fingerprint), identity, { ttl: Math.ceil(graceMs) });
  }

  /** Who asked this before. */
  find(tenant: TenantId, fingerprint: string): Identity | undefined {
    return this.#identities.get(keyOf(tenant, fingerprint));
  }

  /** The request has come back as this program's, or as another's. */
  came(tenant: TenantId, fingerprint: string, identity: Identity): void {
    const key = keyOf(tenant, fingerprint);
    if (this.#identities.get(key)?.program === identity.program) this.#identities.delete(key);
  }
}

/** Nothing in the request names the program. */
const isFromCalls = ({ source }: Identity): boolean => source === 'history' || source === 'none';

const keyOf = (tenant: TenantId, fingerprint: string): string => `${tenant}\u0000${fingerprint}`;

/**
 * Equal for equal bodies. Of a long one a part is hashed, 16 KB in all, so that a history of half a megabyte costs no
 * millisecond: two requests that are taken for one at worst change places in the queue.
 */
export function fingerprintOf(raw: Buffer): string {
  const parts = raw.length <= WHOLE_BYTES_MAX ? raw : sampleOf(raw);
  return `${raw.length.toString(36)}-${hash('sha256', parts, 'base64url').slice(0, 16)}`;
}

function sampleOf(raw: Buffer): Buffer {
  const middle = raw.length - 2 * END_BYTES;
  const slices = Array.from({ length: SLICES }, (_, index) => {
    const from = END_BYTES + Math.floor((index * middle) / SLICES);
    return raw.subarray(from, from + SLICE_BYTES);
  });
  return Buffer.concat([raw.subarray(0, END_BYTES), ...slices, raw.subarray(-END_BYTES)]);
}

/** Official clients count their retries. */
export function saysRetry(headers: IncomingHttpHeaders): boolean {
  return Number(headers['x-stainless-retry-count'] ?? 0) > 0;
}
