import { createHash } from 'node:crypto';
import type { TenantId } from '../../src/index.js';
import { promptBytes, type Api, type JsonObject, type Outline } from '../apis/index.js';
import { isAbsent, isObject } from '../apis/fields.js';
import { SharedCache } from '../identity/shared-cache.js';
import type { List, Span } from './skeleton.js';

/** Boundaries in each doubling of a body's length: close enough that little is left behind one. */
const BOUNDARIES = 16;
/** Boundaries before a body's end that are looked up. */
const TRIES = 12;
/** Bytes before a boundary under which it is looked up; its hash decides. */
const MARK_BYTES = 24;
/** Beginnings under one mark, the latest ones. */
const PER_MARK = 64;
/** Larger bodies are not remembered, because hashing them would block other calls. */
const BYTES_MAX = 4_194_304;
/** Sizes of an entry, of an item in it, and of an item's first mention. */
const ENTRY_BYTES = 512;
const REFERENCE_BYTES = 8;
const ITEM_BYTES = 96;

/** An item of a conversation that has been read. */
export type Item = Span & Outline;

/** A beginning of bodies that has been read, up to the last item before a boundary. */
export interface Beginning extends List {
  readonly items: readonly Item[];
  readonly field: string;
  readonly boundary: number;
  /** Of the bytes up to the boundary. */
  readonly hash: string;
  /** Bytes of memory that it takes. */
  readonly size: number;
}

/**
 * Calls of an agent repeat nearly all bytes of the call before. This remembers by its hash how far a body has been read:
 * where the items of its conversation lie, and what counts of them. Of a body with the same bytes only the rest is
 * scanned and parsed.
 *
 * ```
 *   call 1   {"model":…,"messages":[ item, item, item, item ],…}
 *            └───────────────────────────────────┴ boundary
 *   call 2   {"model":…,"messages":[ item, item, item, item, item, item ],…}
 *            └───────── equal ───────────────────┘ from the last whole item on: read
 * ```
 */
export class Beginnings {
  /** By their boundary and the bytes before it. */
  readonly #known: SharedCache<readonly Beginning[]> | undefined;

  /** @param bytesMax most bytes of memory; 0: remembers nothing */
  constructor(bytesMax: number) {
    this.#known = bytesMax > 0 ? new SharedCache(bytesMax, sizeOf) : undefined;
  }

  /** The longest known beginning of the body. */
  find(tenant: TenantId, { list }: Api, digest: Digest): Beginning | undefined {
    const { raw } = digest;
    if (list === undefined || raw.length > BYTES_MAX) return undefined;
    const likely: (readonly Beginning[])[] = [];
    for (const boundary of boundariesOf(raw.length)) {
      const known = this.#known?.get(tenant, markOf(raw, boundary));
      if (known) likely.push(known);
    }
    const [longest, ...others] = likely;
    const found = longest && equalTo(digest, longest, list);
    if (found || others.length === 0) return found;
    // Runs of one prompt have the same marks at the same boundaries. Hashes grow, so the shorter ones need another pass.
    const again = new Digest(raw);
    return others.reduceRight<Beginning | undefined>((last, known) => equalTo(again, known, list) ?? last, undefined);
  }

  learn(tenant: TenantId, raw: Buffer, beginning: Beginning | undefined): void {
    if (!beginning) return;
    const mark = markOf(raw, beginning.boundary);
    const others = this.#known?.get(tenant, mark) ?? [];
    this.#known?.set(tenant, mark, [
      ...others.filter(({ hash }) => hash !== beginning.hash).slice(1 - PER_MARK),
      beginning,
    ]);
  }
}

const sizeOf = (known: readonly Beginning[]): number => known.reduce((sum, { size }) => sum + size, 0);

function equalTo({ upTo }: Digest, known: readonly Beginning[], list: string): Beginning | undefined {
  const hash = upTo(known[0]?.boundary ?? 0);
  return known.find((one) => one.hash === hash && one.field === list);
}

/** Hashes of a body's beginnings, each longer than the one before, in one pass. */
export class Digest {
  readonly #hash = createHash('sha256');
  #at = 0;

  constructor(readonly raw: Buffer) {}

  readonly upTo = (end: number): string => {
    this.#hash.update(this.raw.subarray(this.#at, end));
    this.#at = end;
    return this.#hash.copy().digest('base64url');
  };
}

/**
 * Facts to remember of a body; undefined: none, as it is not of such a kind, or is known.
 * @param before its beginning that was known
 * @param itemBytesMax longest item; the content of longer ones may be cut where it is read
 */
export function beginningOf(
  { list: field }: Api,
  { raw, upTo }: Digest,
  { body, list }: { readonly body: JsonObject; readonly list: List | undefined },
  before: Beginning | undefined,
  itemBytesMax: number,
): Beginning | undefined {
  if (field === undefined || list === undefined || raw.length > BYTES_MAX) return undefined;
  const [boundary = 0] = boundariesOf(raw.length);
  const objects = body[field];
  if (boundary === before?.boundary || !Array.isArray(objects) || objects.length !== list.items.length)
    return undefined;
  const items = before ? [...before.items] : [];
  const known = items.length;
  for (const span of list.items.slice(known)) {
    if (span.end > boundary) break;
    const item = objects[items.length] as unknown;
    if (!isObject(item) || span.end - span.start > itemBytesMax) return undefined;
    const [role, type] = [nameOf(item['role']), nameOf(item['type'])];
    if (role === null || type === null) return undefined;
    const { start, end, nodes, depth } = span;
    // Not spread: V8 would make several layouts of them, of which one is migrated at each access.
    items.push({ start, end, nodes, depth, role, type, promptBytes: promptBytes(item) });
  }
  if (items.length === known) return undefined;
  const size = ENTRY_BYTES + REFERENCE_BYTES * items.length + ITEM_BYTES * (items.length - known);
  return { field, boundary, hash: upTo(boundary), start: list.start, fields: list.fields, items, size };
}

/** The last boundaries before the end of a body. The same bytes have the same boundaries, however long the body. */
function* boundariesOf(length: number): Generator<number> {
  let octave = 2 ** Math.floor(Math.log2(length));
  let boundary = length - (length % (octave / BOUNDARIES));
  for (let tries = 0; tries < TRIES; tries++) {
    yield boundary;
    if (boundary === octave) octave /= 2;
    boundary -= octave / BOUNDARIES;
  }
}

const markOf = (raw: Buffer, boundary: number): string =>
  `${boundary}:${raw.toString('latin1', boundary - MARK_BYTES, boundary)}`;

/** Names that are kept once for all. */
const NAMES_MAX = 256;
const NAME_CHARS_MAX = 64;
const names = new Map<string, string>();

/** Null: not the name of a role or a type. */
function nameOf(value: unknown): string | null | undefined {
  if (isAbsent(value)) return undefined;
  if (typeof value !== 'string' || value.length > NAME_CHARS_MAX) return null;
  const name = names.get(value) ?? value;
  if (names.size < NAMES_MAX) names.set(name, name);
  return name;
}
