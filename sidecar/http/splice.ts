import type { JsonObject } from '../apis/api.js';
import { isObject } from '../apis/fields.js';

const SPACE = 0x20;
const QUOTE = 0x22;
const OPEN = 0x7b;
const CLOSE = 0x7d;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;

/** Bodies from this size on are sent in parts, as copies of them make V8 collect all of its heap again and again. */
const PARTS_BYTES = 131_072;

/** Parts of a body as one buffer, copied only if there are several. */
export const joined = (parts: readonly Buffer[]): Buffer =>
  parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);

/**
 * Sets top-level fields of a JSON object in its bytes. All other bytes stay unchanged: large numbers, escapes, repeated
 * keys, order and white space survive, unlike with parsing and printing. If the old and the new value are both objects,
 * the new fields are merged into the old object. A long body comes in parts.
 * @param raw bytes of a JSON object, known to be valid
 * @param keys its top-level keys, as parsed
 */
export function spliceFields(raw: Buffer, keys: ReadonlySet<unknown>, fields: JsonObject): Buffer | Buffer[] {
  const parts = splicedParts(raw, keys, fields);
  return raw.length < PARTS_BYTES ? joined(parts) : parts;
}

function splicedParts(raw: Buffer, keys: ReadonlySet<unknown>, fields: JsonObject): Buffer[] {
  const names = Object.keys(fields);
  let bytes = raw;
  let added = '';
  for (const name of names) {
    const value = fields[name];
    if (keys.has(name)) bytes = edited(bytes, name, (old) => changed(old, value));
    else added += `${added === '' ? '' : ','}${JSON.stringify(name)}:${JSON.stringify(value)}`;
  }
  if (added === '') return [bytes];
  const inside = bytes.indexOf(OPEN) + 1;
  if (keys.size > 0) added += ',';
  return [bytes.subarray(0, inside), Buffer.from(added), bytes.subarray(inside)];
}

/** Removes every top-level `name` from a JSON object's bytes; all other members stay as they are. */
export const withoutField = (raw: Buffer, name: string): Buffer => edited(raw, name, () => undefined);

/**
 * Replaces the value of every top-level `name`, because some readers use the first of repeated keys and some the last.
 * @param edit undefined: without the member
 */
function edited(raw: Buffer, name: string, edit: (value: Buffer) => Buffer | undefined): Buffer {
  const start = raw.indexOf(OPEN) + 1;
  const parts: Buffer[] = [];
  let at = start;
  for (const { key, valueStart, valueEnd } of members(raw)) {
    const old = raw.subarray(valueStart, valueEnd);
    const value = key === name ? edit(old) : old;
    if (value !== undefined) parts.push(raw.subarray(parts.length > 0 ? at - 1 : at, valueStart), value);
    at = valueEnd + 1;
  }
  // After the last member `at` is beyond the closing brace.
  return at === start ? raw : Buffer.concat([raw.subarray(0, start), ...parts, raw.subarray(at - 1)]);
}

function changed(old: Buffer, value: unknown): Buffer {
  if (!isObject(value) || old[old.findIndex((byte) => byte > SPACE)] !== OPEN)
    return Buffer.from(JSON.stringify(value));
  return joined(splicedParts(old, new Set([...members(old)].map(({ key }) => key)), value));
}

/** Members of the outermost object, as byte ranges. White space around a value counts as part of it. */
function* members(raw: Buffer) {
  let at = raw.indexOf(OPEN) + 1;
  for (;;) {
    const keyStart = raw.indexOf(QUOTE, at);
    if (keyStart < 0) return;
    const keyEnd = stringEnd(raw, keyStart);
    const valueStart = raw.indexOf(COLON, keyEnd) + 1;
    const valueEnd = memberEnd(raw, valueStart);
    yield { key: JSON.parse(raw.toString('utf8', keyStart, keyEnd)) as unknown, valueStart, valueEnd };
    if (raw[valueEnd] === CLOSE) return;
    at = valueEnd + 1;
  }
}

/** Index of the comma or brace that ends the member whose value begins at `at`. */
function memberEnd(raw: Buffer, at: number): number {
  let depth = 0;
  for (let i = at; ;) {
    const byte = raw[i] as number;
    if (byte === QUOTE) {
      i = stringEnd(raw, i);
      continue;
    }
    if (depth === 0 && (byte === COMMA || byte === CLOSE)) return i;
    // '{' and '[' differ from '}' and ']' by two, and no other byte outside strings has these codes.
    if (byte === OPEN || byte === OPEN - 0x20) depth++;
    else if (byte === CLOSE || byte === CLOSE - 0x20) depth--;
    i++;
  }
}

/** Bytes compared one by one before a native search, which is slow to start and then ten times as fast. */
const STRIDE = 16;

/** Index after the JSON string that opens at `at`; beyond the end of the bytes if it never closes. */
export function stringEnd(raw: Buffer, at: number): number {
  let i = at + 1;
  for (;;) {
    for (const near = i + STRIDE; i < near; i++) {
      const byte = raw[i];
      if (byte === QUOTE || byte === undefined) return i + 1;
      if (byte === BACKSLASH) i++;
    }
    const from = i;
    i = raw.indexOf(QUOTE, from);
    if (i < 0) return raw.length + 1;
    // A quote after an odd number of backslashes is part of the string.
    let first = i;
    while (first > from && raw[first - 1] === BACKSLASH) first--;
    if ((i - first) % 2 === 0) return i + 1;
    i++;
  }
}
