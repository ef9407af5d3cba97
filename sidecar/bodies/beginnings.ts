import { hash } from 'node:crypto';
import type { TenantId } from '../../src/index.js';
import { promptBytes, type Api, type JsonObject, type Outline } from '../apis/index.js';
import { isAbsent, isObject } from '../apis/fields.js';
import { SharedCache } from '../identity/memory.js';
import type { List, Span } from './skeleton.js';

/** A beginning is known by whole blocks: small enough that little is left behind one, and few enough to hash each. */
const BLOCK_BYTES = 8192;
/** Larger bodies are left to the thread: hashing them here blocks other calls for about 0.8 ms a megabyte. */
const BYTES_MAX = 2_097_152;
/** Sizes of an entry, of an item in it, and of an item's first mention. */
const ENTRY_BYTES = 512;
const REFERENCE_BYTES = 8;
const ITEM_BYTES = 96;
const NAME_CHARS_MAX = 64;

type Item = Span & Outline;

/** A beginning of bodies that has been read, up to the last item in its blocks. */
export interface Beginning extends List {
  readonly items: readonly Item[];
  readonly field: string;
  readonly hash: string;
  /** Bytes of memory that it takes. */
  readonly size: number;
}

/**
 * Calls of an agent repeat nearly all bytes of the call before. This remembers by its hash how far a body has been read:
 * where the items of its conversation lie, and what counts of them. Of a body with those bytes only the rest is read.
 *
 * ```
 *   call 1   {"model":…,"messages":[ item, item, item, item ],…}
 *            └───────────────┴───────────────┘ two blocks
 *   call 2   {"model":…,"messages":[ item, item, item, item, item, item ],…}
 *            └──────────── equal ────────────┘ from the last whole item on: read
 * ```
 */
export class Beginnings extends SharedCache<Beginning> {
  /** @param bytesMax most bytes of memory; 0: remembers nothing, as no entry is so small */
  constructor(bytesMax: number) {
    super(Math.max(1, bytesMax), ({ size }) => size);
  }

  /** The longest known beginning of the body. */
  find(tenant: TenantId, { list }: Api, hashes: Hashes | undefined): Beginning | undefined {
    // Tools may follow the conversation at length, so a known beginning may end far before the body.
    const hash = hashes?.beginnings.findLast((hash) => this.get(tenant, hash)?.field === list);
    return hash === undefined ? undefined : this.get(tenant, hash);
  }

  learn(tenant: TenantId, beginning: Beginning | undefined): void {
    if (beginning) this.set(tenant, beginning.hash, beginning);
  }
}

export type Hashes = NonNullable<ReturnType<typeof hashesOf>>;

/**
 * Hashes of a body's beginnings, by one block longer each, and of all of it. Undefined: bodies of such a kind do not
 * grow, or this one is too long to be remembered.
 */
export function hashesOf({ list }: Api, raw: Buffer) {
  if (list === undefined || raw.length > BYTES_MAX) return undefined;
  const beginnings: string[] = [];
  let [at, last] = [0, ''];
  // One state for all blocks would have to be copied at each, which takes longer.
  for (; at + BLOCK_BYTES <= raw.length; at += BLOCK_BYTES) {
    last = sha256(last + sha256(raw.subarray(at, at + BLOCK_BYTES)));
    beginnings.push(last);
  }
  return { beginnings, whole: sha256(last + sha256(raw.subarray(at))) };
}

const sha256 = (bytes: Buffer | string): string => hash('sha256', bytes, 'base64url');

/**
 * Facts to remember of a body; undefined: none, as it is not of such a kind, or is known.
 * @param before its beginning that was known
 * @param itemBytesMax longest item; the content of longer ones may be cut where it is read
 */
export function beginningOf(
  { list: field }: Api,
  { beginnings }: Hashes,
  { body, list }: { readonly body: JsonObject; readonly list: List | undefined },
  before: Beginning | undefined,
  itemBytesMax: number,
): Beginning | undefined {
  if (field === undefined || list === undefined) return undefined;
  const objects = body[field];
  // The end of the body is not in it: behind the conversation, it moves with each call.
  const blocks = Math.floor((list.items.at(-1)?.end ?? 0) / BLOCK_BYTES);
  const hash = beginnings[blocks - 1];
  if (hash === undefined || hash === before?.hash || !Array.isArray(objects) || objects.length !== list.items.length)
    return undefined;
  const items = before ? [...before.items] : [];
  const known = items.length;
  for (const span of list.items.slice(known)) {
    if (span.end > blocks * BLOCK_BYTES) break;
    const item = objects[items.length] as unknown;
    if (!isObject(item) || span.end - span.start > itemBytesMax) return undefined;
    const { role, type } = item;
    if (!isName(role) || !isName(type)) return undefined;
    const { start, end, nodes, depth } = span;
    // Not spread: V8 would make several layouts of them, of which one is migrated at each access.
    items.push({ start, end, nodes, depth, role, type, promptBytes: promptBytes(item) });
  }
  if (items.length === known) return undefined;
  const size = ENTRY_BYTES + REFERENCE_BYTES * items.length + ITEM_BYTES * (items.length - known);
  return { field, hash, start: list.start, fields: list.fields, items, size };
}

/** Whether it may be the name of a role or a type, which is kept. */
const isName = (value: unknown): boolean =>
  isAbsent(value) || (typeof value === 'string' && value.length <= NAME_CHARS_MAX);
